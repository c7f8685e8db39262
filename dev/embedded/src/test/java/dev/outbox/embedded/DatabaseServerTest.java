package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opentest4j.TestAbortedException;
import org.testcontainers.DockerClientFactory;

class DatabaseServerTest {
  private static final Map<String, Supplier<DatabaseServer>> SERVERS =
      Map.of(
          "postgres", DatabaseServer::postgres,
          "mysql", DatabaseServer::mysql,
          "mariadb", DatabaseServer::mariadb,
          "sqlserver", DatabaseServer::sqlServer);

  @Test
  @DisplayName("the user's own server comes first, and its password is not shown")
  void usersOwn() throws Exception {
    try (EmbeddedPostgres own = EmbeddedPostgres.start()) {
      with(
          Map.of(
              "outbox.test.postgres.url", own.jdbcUrl(),
              "outbox.test.postgres.user", own.user(),
              "outbox.test.postgres.password", own.password()),
          () -> {
            try (DatabaseServer server = DatabaseServer.postgres()) {
              assertThat(server.jdbcUrl()).isEqualTo(own.jdbcUrl());
              assertThat(server.user()).isEqualTo(own.user());
              assertThat(server.password()).isEqualTo(own.password());
              assertThat(server.embedded()).isEmpty();
              assertThat(server.toString()).doesNotContain(own.password());
            }
          });
    }
  }

  @Test
  @DisplayName("one that does not answer is asked once, and what names it is said")
  void doesNotAnswer() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      AtomicInteger connections = new AtomicInteger();
      Thread hangsUp =
          new Thread(
              () -> {
                try {
                  while (true) {
                    Socket client = silent.accept();
                    connections.incrementAndGet();
                    client.close();
                  }
                } catch (IOException e) {
                  // the test is over
                }
              });
      hangsUp.start();
      with(
          Map.of(
              "outbox.test.postgres.url",
              "jdbc:postgresql://127.0.0.1:%d/x?sslmode=disable&password=secret"
                  .formatted(silent.getLocalPort())),
          () -> {
            for (int i = 0; i < 3; i++) {
              assertThatThrownBy(DatabaseServer::postgres)
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessage(
                      "the PostgreSQL that outbox.test.postgres.url names does not answer: start it, or name another")
                  .hasCauseInstanceOf(SQLException.class)
                  .extracting(Throwables::getStackTrace)
                  .asString()
                  .doesNotContain("secret");
            }
          });
      assertThat(connections).hasValue(1);
    }
  }

  /** Runs it with system properties of these values. */
  static void with(Map<String, String> given, Runnable work) {
    Map<String, String> before = new HashMap<>();
    given.forEach((name, value) -> before.put(name, System.setProperty(name, value)));
    try {
      work.run();
    } finally {
      before.forEach(
          (name, value) -> {
            if (value == null) {
              System.clearProperty(name);
            } else {
              System.setProperty(name, value);
            }
          });
    }
  }

  @Test
  @DisplayName("without SQL Server the tests are skipped, with what would run them")
  void noSqlServer() {
    assumeThat(Machine.setting("outbox.test.sqlserver.url")).isNull();
    assumeThat(DockerClientFactory.instance().isDockerAvailable()).isFalse();
    assertThatThrownBy(DatabaseServer::sqlServer)
        .isInstanceOf(TestAbortedException.class)
        .hasMessageStartingWith("no SQL Server to test with: ")
        .hasMessageContaining("-Doutbox.test.sqlserver.url=")
        .hasMessageContaining("Docker");
  }

  @ParameterizedTest
  @ValueSource(strings = {"postgres", "mysql", "mariadb", "sqlserver"})
  @DisplayName("who names an image gets a container of it, or no server at all")
  void image(String name) {
    assumeThat(Machine.setting("outbox.test." + name + ".url")).isNull();
    assumeThat(DockerClientFactory.instance().isDockerAvailable()).isFalse();
    String image = name.equals("sqlserver") ? "mcr.microsoft.com/mssql/server:0" : name;
    with(
        Map.of("outbox.test." + name + ".image", image),
        () ->
            assertThatThrownBy(SERVERS.get(name)::get).hasMessageContaining("Docker environment"));
  }
}
