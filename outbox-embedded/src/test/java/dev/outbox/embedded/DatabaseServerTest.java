package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;
import org.testcontainers.DockerClientFactory;

class DatabaseServerTest {

  @Test
  @DisplayName("the user's own server comes first, and its password is not shown")
  void usersOwn() {
    Map<String, Supplier<DatabaseServer>> servers =
        Map.of(
            "postgres", DatabaseServer::postgres,
            "mysql", DatabaseServer::mysql,
            "mariadb", DatabaseServer::mariadb,
            "sqlserver", DatabaseServer::sqlServer);
    servers.forEach(
        (name, start) -> {
          String property = "outbox.test." + name;
          Map<String, String> given =
              Map.of(".url", "jdbc:" + name + ":x", ".user", "me", ".password", "secret");
          Map<String, String> before = new HashMap<>();
          given.keySet().forEach(key -> before.put(key, System.getProperty(property + key)));
          given.forEach((key, value) -> System.setProperty(property + key, value));
          try (DatabaseServer server = start.get()) {
            assertThat(server.jdbcUrl()).isEqualTo("jdbc:" + name + ":x");
            assertThat(server.user()).isEqualTo("me");
            assertThat(server.password()).isEqualTo("secret");
            assertThat(server.embedded()).isEmpty();
            assertThat(server.toString()).doesNotContain("secret");
          } finally {
            before.forEach(
                (key, value) -> {
                  if (value == null) {
                    System.clearProperty(property + key);
                  } else {
                    System.setProperty(property + key, value);
                  }
                });
          }
        });
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
}
