package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
      SERVERS.forEach(
          (name, start) ->
              named(
                  name,
                  own.jdbcUrl(),
                  own.user(),
                  own.password(),
                  () -> {
                    try (DatabaseServer server = start.get()) {
                      assertThat(server.jdbcUrl()).isEqualTo(own.jdbcUrl());
                      assertThat(server.user()).isEqualTo(own.user());
                      assertThat(server.password()).isEqualTo(own.password());
                      assertThat(server.embedded()).isEmpty();
                      assertThat(server.toString()).doesNotContain(own.password());
                    }
                  }));
    }
  }

  @Test
  @DisplayName("one that does not answer is asked once, and what names it is said")
  void doesNotAnswer() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String address = "jdbc:postgresql://127.0.0.1:" + silent.getLocalPort();
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
      for (int i = 0; i < 3; i++) {
        SERVERS.forEach(
            (name, start) ->
                named(
                    name,
                    address + "/x?sslmode=disable&password=secret",
                    "me",
                    "secret",
                    () ->
                        assertThatThrownBy(start::get)
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageMatching(
                                "outbox\\.test\\.%s\\.url names a \\w+( \\w+)? at %s, which does not answer: start it, or name another"
                                    .formatted(name, address))
                            .hasStackTraceContaining("Caused by: ")
                            .extracting(e -> Throwables.getStackTrace(e))
                            .asString()
                            .doesNotContain("secret")));
      }
      assertThat(connections).hasValue(SERVERS.size());
    }
  }

  @ParameterizedTest
  @DisplayName("of its URL only what cannot be a password is said")
  @CsvSource(
      delimiter = '|',
      value = {
        "jdbc:mysql://db.shop:3306/x?user=a&password=p | jdbc:mysql://db.shop:3306",
        "jdbc:sqlserver://db:1433;user=a;password=p    | jdbc:sqlserver://db:1433",
        "jdbc:mysql://db                               | jdbc:mysql://db",
        "jdbc:postgresql://a,b:5433/x                  | jdbc:postgresql://a",
        "jdbc:postgresql:x?password=p                  | jdbc:postgresql:…",
        "jdbc:mysql://a:p@db/x                         | jdbc:mysql:…",
        "jdbc:mysql://a:1?p@db/x                       | jdbc:mysql:…",
        "jdbc:mysql://(host=db,password=p)/x           | jdbc:mysql:…",
      })
  void address(String url, String said) {
    assertThat(NamedServers.address(url)).isEqualTo(said);
  }

  private static void named(String name, String url, String user, String password, Runnable work) {
    Map<String, String> given = Map.of(".url", url, ".user", user, ".password", password);
    Map<String, String> before = new HashMap<>();
    given.forEach(
        (key, value) -> before.put(key, System.setProperty("outbox.test." + name + key, value)));
    try {
      work.run();
    } finally {
      before.forEach(
          (key, value) -> {
            if (value == null) {
              System.clearProperty("outbox.test." + name + key);
            } else {
              System.setProperty("outbox.test." + name + key, value);
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
    String image = "outbox.test." + name + ".image";
    System.setProperty(image, name.equals("sqlserver") ? "mcr.microsoft.com/mssql/server:0" : name);
    try {
      assertThatThrownBy(SERVERS.get(name)::get).hasMessageContaining("Docker environment");
    } finally {
      System.clearProperty(image);
    }
  }
}
