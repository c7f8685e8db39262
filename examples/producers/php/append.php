<?php

// Appends the messages of standard input, one JSON object a line, each in its own transaction.

declare(strict_types=1);

require __DIR__ . '/outbox.php';

function message(string $line): Message
{
    $fields = json_decode($line, true, 512, JSON_THROW_ON_ERROR);
    return new Message(
        $fields['aggregate_type'],
        $fields['aggregate_id'],
        $fields['event_type'],
        isset($fields['payload_base64'])
            ? base64_decode($fields['payload_base64'], true) : $fields['payload'],
        $fields['partition_key'] ?? null,
        $fields['content_type'] ?? 'application/json',
        $fields['headers'] ?? [],
        $fields['correlation_id'] ?? null,
        $fields['dedup_key'] ?? null,
    );
}

// Where the database is, PGHOST, PGUSER and the like say.
$connection = new PDO('pgsql:');
while (($line = fgets(STDIN)) !== false) {
    $connection->beginTransaction();
    try {
        // Your own change comes first, in this transaction.
        $id = append($connection, message($line));
        $connection->commit();
        $said = $id === null ? ['duplicate' => true] : ['id' => $id];
    } catch (InvalidArgumentException | JsonException | PDOException $error) {
        $connection->rollBack();
        // Behind the first line PostgreSQL may show the row.
        $said = ['error' => strtok($error->getMessage(), "\n")];
    }
    echo json_encode($said, JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE), "\n";
}
