package dev.outbox.cli;

import dev.outbox.embedded.DatabaseServer;

class PostgresCommandsTest extends JdbcCommandsTest {
  @Override
  DatabaseServer server() {
    return DatabaseServer.postgres();
  }
}
