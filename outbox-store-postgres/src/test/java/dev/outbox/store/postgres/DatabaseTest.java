package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.DatabaseTests;

/** Tests of what only PostgreSQL has. */
abstract class DatabaseTest extends DatabaseTests {
  DatabaseTest() {
    super(new Postgres());
  }
}
