package dev.outbox.store.sqlserver;

/** Runs the TCK in this build; a name that Surefire picks up. */
class SqlServerStoreTest extends SqlServerStoreTck {}
