package dev.outbox.store.mysql;

/** Runs the TCK in this build; a name that Surefire picks up. */
class MysqlStoreTest extends MysqlStoreTck {}
