package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.embedded.DatabaseServer;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class MysqlCommandsTest extends JdbcCommandsTest {
  @Override
  DatabaseServer server() {
    return DatabaseServer.mysql();
  }

  @Test
  @DisplayName("doctor names a setting that loses commits, and what to type")
  void settings() throws Exception {
    assumeTrue(
        query("show grants").toString().contains("SYSTEM_VARIABLES_ADMIN"),
        "the user of outbox.test.mysql.url may not set global variables");
    cli("migrate").done();
    query("set global innodb_flush_log_at_trx_commit = 2");
    List<String> lines = cli("doctor").out().lines().toList();
    int found =
        lines.indexOf(
            lines.stream().filter(l -> l.startsWith("WARNING: settings")).findFirst().get());
    assertThat(lines.get(found)).contains("innodb_flush_log_at_trx_commit is 2: ");
    query(lines.get(found + 1));
    assertThat(cli("doctor").out())
        .containsPattern("settings +fine")
        .containsPattern("clock +fine")
        .containsPattern("open transactions +fine");
  }

  @Test
  @DisplayName("a URL that calls it a MariaDB is said to be one of MySQL")
  void wrongKind() {
    assertThat(
            Cli.run(options(url().replaceFirst("^jdbc:mysql:", "jdbc:mariadb:")), "status")
                .refused())
        .isEqualToIgnoringNewLines(
            "outbox: the server is not MariaDB: begin its URL with jdbc:mysql:");
  }
}
