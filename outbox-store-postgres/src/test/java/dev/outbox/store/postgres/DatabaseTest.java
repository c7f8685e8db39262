package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.HoldingTests;

/** Tests of what only PostgreSQL has. */
abstract class DatabaseTest extends HoldingTests {

  DatabaseTest() {
    super(new Postgres());
  }
}
