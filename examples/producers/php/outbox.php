<?php

declare(strict_types=1);

const DEDUP = 'insert into outbox_dedup (dedup_key) values (?) on conflict do nothing';

const INSERT = <<<'SQL'
    insert into outbox_message (aggregate_type, aggregate_id, event_type, partition_key, payload,
      content_type, headers, correlation_id, dedup_key)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?)
    returning id
    SQL;

final class Message
{
    /** @param list<array{string, string}> $headers names and values */
    public function __construct(
        public readonly string $aggregateType,
        public readonly string $aggregateId,
        public readonly string $eventType,
        public readonly string $payload,
        public readonly ?string $partitionKey = null,
        public readonly string $contentType = 'application/json',
        public readonly array $headers = [],
        public readonly ?string $correlationId = null,
        public readonly ?string $dedupKey = null,
    ) {
        $names = ['aggregateType', 'aggregateId', 'eventType', 'partitionKey', 'contentType',
            'correlationId', 'dedupKey'];
        foreach ($names as $name) {
            if ($this->$name !== null) {
                check($name, $this->$name);
            }
        }
        foreach ($headers as [$name, $value]) {
            // JSON can have it, and no relay can take it.
            if (str_contains($name . $value, "\0")) {
                throw new InvalidArgumentException(
                    'header ' . json_encode($name) . ' has a NUL: remove it');
            }
        }
    }
}

/**
 * Appends in the connection's transaction, behind the change that the message tells of.
 *
 * @return string|null the message's id, or null when its dedup key was used before
 */
function append(PDO $connection, Message $message): ?string
{
    if ($message->dedupKey !== null) {
        $first = $connection->prepare(DEDUP);
        $first->execute([$message->dedupKey]);
        if ($first->rowCount() === 0) {
            return null;
        }
    }
    $insert = $connection->prepare(INSERT);
    $texts = [1 => $message->aggregateType, $message->aggregateId, $message->eventType,
        $message->partitionKey, 6 => $message->contentType,
        json_encode($message->headers, JSON_THROW_ON_ERROR), $message->correlationId,
        $message->dedupKey];
    foreach ($texts as $place => $text) {
        $insert->bindValue($place, $text);
    }
    // As bytes. Text that is bound as it is loses its backslashes, and ends at a NUL.
    $insert->bindValue(5, $message->payload, PDO::PARAM_LOB);
    $insert->execute();
    return $insert->fetchColumn();
}

/** Refuses what the database would let pass, or what would arrive changed. */
function check(string $name, string $text): void
{
    if (str_contains($text, "\0")) {
        // PDO would send what stands before it.
        throw new InvalidArgumentException("$name has a NUL, which PostgreSQL does not store");
    }
    if (trim($text) === '') {
        throw new InvalidArgumentException(
            "$name is blank: give it at least one visible character");
    }
    $size = preg_match_all('/./su', $text);
    if ($size === false) {
        throw new InvalidArgumentException("$name is not UTF-8");
    }
    if ($size > 255) {
        throw new InvalidArgumentException(
            "$name has $size characters, at most 255 are allowed");
    }
}
