package dev.outbox.cli;

import dev.outbox.embedded.DatabaseServer;

class PostgresCommandsTest extends DatabaseCommandsTest {
  @Override
  DatabaseServer server() {
    return DatabaseServer.postgres();
  }
}
