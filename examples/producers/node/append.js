"use strict";

// Appends the messages of standard input, one JSON object a line, each in its own transaction.

const readline = require("node:readline");
const { Client } = require("pg");
const { append } = require("./outbox");

function message(line) {
  const fields = JSON.parse(line);
  return {
    aggregateType: fields.aggregate_type,
    aggregateId: fields.aggregate_id,
    eventType: fields.event_type,
    partitionKey: fields.partition_key,
    payload:
      fields.payload_base64 === undefined
        ? Buffer.from(fields.payload)
        : Buffer.from(fields.payload_base64, "base64"),
    contentType: fields.content_type,
    headers: fields.headers,
    correlationId: fields.correlation_id,
    dedupKey: fields.dedup_key,
  };
}

async function main() {
  // Where the database is, PGHOST, PGUSER and the like say.
  const client = new Client();
  await client.connect();
  for await (const line of readline.createInterface({ input: process.stdin })) {
    let said;
    try {
      await client.query("BEGIN");
      // Your own change comes first, in this transaction.
      const id = await append(client, message(line));
      await client.query("COMMIT");
      said = id === null ? { duplicate: true } : { id };
    } catch (error) {
      await client.query("ROLLBACK");
      said = { error: error.message };
    }
    console.log(JSON.stringify(said));
  }
  await client.end();
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
