package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.embedded.DatabaseServer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class MysqlCommandsTest extends DatabaseCommandsTest {
  @Override
  DatabaseServer server() {
    return DatabaseServer.mysql();
  }

  @Test
  @DisplayName("a URL that calls it a MariaDB is said to be one of MySQL")
  void wrongKind() {
    Cli cli = cliAt(url().replaceFirst("^jdbc:mysql:", "jdbc:mariadb:"), "status");
    assertThat(cli.code()).isEqualTo(2);
    assertThat(cli.err())
        .isEqualToIgnoringNewLines(
            "outbox: the server is not MariaDB: begin its URL with jdbc:mysql:");
  }
}
