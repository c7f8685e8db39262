package dev.outbox.benchmarks;

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
