package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opentest4j.TestAbortedException;
import org.testcontainers.DockerClientFactory;

class TestServerTest {
  private static final Map<String, ThrowingCallable> SERVERS =
      Map.of(
          "postgres", DatabaseServer::postgres,
          "mysql", DatabaseServer::mysql,
          "mariadb", DatabaseServer::mariadb,
          "sqlserver", DatabaseServer::sqlServer,
          "kafka", TestServer::kafka,
          "rabbitmq", TestServer::rabbit,
          "nats", TestServer::nats,
          "redis", TestServer::redis,
          "mongo", TestServer::mongo);

  /** Runs it with system properties of these values. */
  private static void with(Map<String, String> given, Runnable work) {
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
  @DisplayName("the user's own database comes first, and its password is not shown")
  void usersOwnDatabase() throws Exception {
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
  @DisplayName(
      "the user's own server comes first, and its address, which may hold a password, is not shown")
  void usersOwn() {
    String address = "redis://me:secret@127.0.0.1:1";
    with(
        Map.of("outbox.test.redis.url", address),
        () -> {
          try (TestServer server = TestServer.redis()) {
            assertThat(server.address()).isEqualTo(address);
            assertThat(server.embedded()).isEmpty();
            assertThat(server.toString()).doesNotContain("secret");
          }
        });
  }

  @ParameterizedTest
  @CsvSource({
    "PostgreSQL, postgres, jdbc:postgresql://127.0.0.1:1/x?password=secret",
    "MongoDB, mongo, mongodb://me:secret@127.0.0.1:1/?serverSelectionTimeoutMS=300"
  })
  @DisplayName("one that does not answer is asked once, and what names it is said")
  void doesNotAnswer(String product, String name, String url) {
    String property = "outbox.test." + name + ".url";
    Set<Throwable> causes = new HashSet<>();
    with(
        Map.of(property, url),
        () -> {
          for (int i = 0; i < 3; i++) {
            Throwable thrown = catchThrowable(SERVERS.get(name));
            assertThat(thrown)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                    "the %s that %s names does not answer: start it, or name another",
                    product, property);
            assertThat(Throwables.getStackTrace(thrown)).doesNotContain("secret");
            causes.add(thrown.getCause());
          }
        });
    assertThat(causes).as("what came of asking").hasSize(1);
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
  @CsvSource({
    "postgres, postgres",
    "mysql, mysql",
    "mariadb, mariadb",
    "sqlserver, mcr.microsoft.com/mssql/server:0",
    "kafka, apache/kafka:0",
    "rabbitmq, rabbitmq:0",
    "nats, nats:0",
    "redis, redis:0",
    "mongo, mongo:0"
  })
  @DisplayName("who names an image gets a container of it, or no server at all")
  void image(String name, String image) {
    assumeThat(Machine.setting("outbox.test." + name + ".url")).isNull();
    assumeThat(Machine.setting("outbox.test." + name + ".bootstrap")).isNull();
    assumeThat(DockerClientFactory.instance().isDockerAvailable()).isFalse();
    with(
        Map.of("outbox.test." + name + ".image", image),
        () -> assertThatThrownBy(SERVERS.get(name)).hasMessageContaining("Docker environment"));
  }
}
