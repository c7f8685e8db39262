"use strict";

const DEDUP = "insert into outbox_dedup (dedup_key) values ($1) on conflict do nothing";

const INSERT = `
insert into outbox_message (aggregate_type, aggregate_id, event_type, partition_key, payload,
  content_type, headers, correlation_id, dedup_key)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
returning id`;

/**
 * Appends in the client's transaction, behind the change that the message tells of.
 *
 * @param client of pg, between BEGIN and COMMIT
 * @param message aggregateType, aggregateId, eventType, payload (a Buffer), and if you like
 *     partitionKey, contentType, headers ([["name", "value"], ...]), correlationId, dedupKey
 * @returns the message's id, or null when its dedup key was used before
 */
async function append(client, message) {
  check(message);
  if (message.dedupKey != null) {
    const first = await client.query(DEDUP, [message.dedupKey]);
    if (first.rowCount === 0) return null;
  }
  const { rows } = await client.query(INSERT, [
    message.aggregateType,
    message.aggregateId,
    message.eventType,
    message.partitionKey ?? null,
    message.payload,
    message.contentType ?? "application/json",
    // As a text: pg turns an array into an array of PostgreSQL, which is no JSON.
    JSON.stringify(message.headers ?? []),
    message.correlationId ?? null,
    message.dedupKey ?? null,
  ]);
  return rows[0].id;
}

/** What the database would not refuse, or the driver would change. */
function check(message) {
  if (!Buffer.isBuffer(message.payload)) {
    // Text that is bound as it is loses its backslashes.
    throw new TypeError("payload is no Buffer: use Buffer.from(text)");
  }
  const { aggregateType, aggregateId, eventType, partitionKey, contentType } = message;
  const { correlationId, dedupKey } = message;
  const names = { aggregateType, aggregateId, eventType, partitionKey, contentType };
  for (const [name, text] of Object.entries({ ...names, correlationId, dedupKey })) {
    if (text == null) continue;
    if (text.trim() === "") {
      throw new RangeError(`${name} is blank: give it at least one visible character`);
    }
    const size = [...text].length;
    if (size > 255) {
      throw new RangeError(`${name} has ${size} characters, at most 255 are allowed`);
    }
    if (Buffer.from(text).toString() !== text) {
      // It would be sent as U+FFFD.
      throw new RangeError(`${name} has half a surrogate pair, which is not Unicode: remove it`);
    }
  }
  for (const [name, value] of message.headers ?? []) {
    // JSON can have it, and no relay can take it.
    if ((name + value).includes("\0")) {
      throw new RangeError(`header ${JSON.stringify(name)} has a NUL: remove it`);
    }
  }
}

module.exports = { append };
