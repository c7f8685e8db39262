using System.Text.Json;
using Npgsql;

public sealed record Message(string AggregateType, string AggregateId, string EventType, byte[] Payload)
{
    public string? PartitionKey { get; init; }
    public string ContentType { get; init; } = "application/json";
    /// <summary>Pairs of a name and a value.</summary>
    public string[][] Headers { get; init; } = [];
    public string? CorrelationId { get; init; }
    public string? DedupKey { get; init; }
}

public static class Outbox
{
    private const string Dedup = """
        insert into outbox_dedup (dedup_key) values ($1) on conflict do nothing
        """;

    // Npgsql sends a string as text, which PostgreSQL does not take for json without the cast.
    private const string Insert = """
        insert into outbox_message (aggregate_type, aggregate_id, event_type, partition_key, payload,
          content_type, headers, correlation_id, dedup_key)
        values ($1, $2, $3, $4, $5, $6, $7::json, $8, $9)
        returning id
        """;

    /// <summary>
    /// Appends in the connection's transaction, behind the change that the message tells of.
    /// Gives the message's id, or null when its dedup key was used before.
    /// </summary>
    public static async Task<Guid?> AppendAsync(NpgsqlConnection connection, Message message)
    {
        Check(message);
        if (message.DedupKey is not null)
        {
            await using var dedup = Command(connection, Dedup, message.DedupKey);
            if (await dedup.ExecuteNonQueryAsync() == 0)
            {
                return null;
            }
        }
        await using var insert = Command(connection, Insert, message.AggregateType, message.AggregateId,
            message.EventType, message.PartitionKey, message.Payload, message.ContentType,
            JsonSerializer.Serialize(message.Headers), message.CorrelationId, message.DedupKey);
        return (Guid?)await insert.ExecuteScalarAsync();
    }

    private static NpgsqlCommand Command(NpgsqlConnection connection, string sql, params object?[] values)
    {
        var command = new NpgsqlCommand(sql, connection);
        foreach (var value in values)
        {
            command.Parameters.Add(new NpgsqlParameter { Value = value ?? DBNull.Value });
        }
        return command;
    }

    /// <summary>The database lets a blank text pass, and cuts spaces off behind the 255th character.</summary>
    private static void Check(Message message)
    {
        var names = new (string Name, string? Text)[]
        {
            ("AggregateType", message.AggregateType), ("AggregateId", message.AggregateId),
            ("EventType", message.EventType), ("PartitionKey", message.PartitionKey),
            ("ContentType", message.ContentType), ("CorrelationId", message.CorrelationId),
            ("DedupKey", message.DedupKey),
        };
        foreach (var (name, text) in names)
        {
            if (text is null)
            {
                continue;
            }
            if (string.IsNullOrWhiteSpace(text))
            {
                throw new ArgumentException($"{name} is blank: give it at least one visible character");
            }
            var size = text.EnumerateRunes().Count();
            if (size > 255)
            {
                throw new ArgumentException($"{name} has {size} characters, at most 255 are allowed");
            }
        }
        foreach (var header in message.Headers)
        {
            // JSON can have it, and no relay can take it.
            if (header.Any(text => text.Contains('\0')))
            {
                throw new ArgumentException($"header {JsonSerializer.Serialize(header[0])} has a NUL: remove it");
            }
        }
    }
}
