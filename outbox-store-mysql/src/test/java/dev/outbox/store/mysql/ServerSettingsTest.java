package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.spi.store.Finding;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.SqlStatements;
import org.jdbi.v3.core.statement.TemplateEngine;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Findings on MySQL and MariaDB")
class ServerSettingsTest {
  private static List<String> open(DatabaseServer server, Duration old) {
    Jdbi jdbi = Jdbi.create(server.jdbcUrl(), server.user(), server.password());
    jdbi.getConfig(SqlStatements.class).setTemplateEngine(TemplateEngine.NOP);
    return jdbi.withHandle(handle -> ServerSettings.findings(handle, old)).stream()
        .filter(one -> one.what().equals("open transactions") && !one.isFine())
        .map(Finding::text)
        .toList();
  }

  private static Connection connect(DatabaseServer server) throws SQLException {
    return DriverManager.getConnection(server.jdbcUrl(), server.user(), server.password());
  }

  @ParameterizedTest
  @ValueSource(strings = {"mysql", "mariadb"})
  @DisplayName(
      "name a session with an open transaction and one that was prepared, and no young ones")
  void openTransactions(String kind) throws Exception {
    String xid = "'%s'".formatted(UUID.randomUUID());
    try (DatabaseServer server =
        kind.equals("mysql") ? DatabaseServer.mysql() : DatabaseServer.mariadb()) {
      try (Connection open = connect(server);
          Statement statement = open.createStatement()) {
        statement.execute("create table if not exists opened (id int primary key)");
        open.setAutoCommit(false);
        statement.execute("insert into opened values (1)");
        assertThat(open(server, Duration.ofDays(1))).isEmpty();
        assertThat(open(server, Duration.ZERO))
            .singleElement()
            .asString()
            .startsWith("a transaction of session ")
            .containsPattern(": kill \\d+$");
        open.rollback();
      }
      try (Connection prepared = connect(server);
          Statement statement = prepared.createStatement()) {
        statement.execute("xa start " + xid);
        statement.execute("insert into opened values (2)");
        statement.execute("xa end " + xid);
        statement.execute("xa prepare " + xid);
      }
      try (Connection other = connect(server);
          Statement statement = other.createStatement()) {
        await()
            .untilAsserted(
                () ->
                    assertThat(open(server, Duration.ZERO))
                        .singleElement()
                        .asString()
                        .startsWith("a prepared transaction has been open for")
                        .endsWith(": xa recover, then xa rollback or xa commit of its id"));
        statement.execute("xa rollback " + xid);
        statement.execute("drop table opened");
      }
      await().untilAsserted(() -> assertThat(open(server, Duration.ZERO)).isEmpty());
    }
  }
}
