package dev.outbox.store.mysql;

/** Runs the TCK of inboxes in this build. */
class MysqlInboxTest extends MysqlInboxTck {}
