package dev.outbox.store.postgres;

/** Runs the TCK in this build; a name that Surefire picks up. */
class PostgresStoreTest extends PostgresStoreTck {}
