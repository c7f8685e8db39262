package dev.outbox.store.sqlserver;

/** Runs the TCK of inboxes in this build. */
class SqlServerInboxTest extends SqlServerInboxTck {}
