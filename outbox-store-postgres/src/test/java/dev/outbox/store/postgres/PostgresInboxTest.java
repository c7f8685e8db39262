package dev.outbox.store.postgres;

/** Runs the TCK of inboxes in this build. */
class PostgresInboxTest extends PostgresInboxTck {}
