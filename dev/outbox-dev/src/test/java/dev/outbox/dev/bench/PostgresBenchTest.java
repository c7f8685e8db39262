package dev.outbox.dev.bench;

import dev.outbox.embedded.DatabaseServer;

class PostgresBenchTest extends BenchTest {
  @Override
  DatabaseServer server() {
    return DatabaseServer.postgres();
  }

  @Override
  String name() {
    return "PostgreSQL 1";
  }
}
