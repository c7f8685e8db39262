package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.embedded.DatabaseServer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class MysqlCommandsTest extends JdbcCommandsTest {
  @Override
  DatabaseServer server() {
    return DatabaseServer.mysql();
  }

  @Test
  @DisplayName("a URL that calls it a MariaDB is said to be one of MySQL")
  void wrongKind() {
    List<String> command = new ArrayList<>(List.of("status"));
    command.addAll(options(url().replaceFirst("^jdbc:mysql:", "jdbc:mariadb:")));
    Cli cli = Cli.run(command.toArray(String[]::new));
    assertThat(cli.code()).isEqualTo(2);
    assertThat(cli.err())
        .isEqualToIgnoringNewLines(
            "outbox: the server is not MariaDB: begin its URL with jdbc:mysql:");
  }
}
