package dev.outbox.embedded;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.testcontainers.postgresql.PostgreSQLContainer;

/** PostgreSQL in a container; loaded only when Testcontainers is on the class path. */
final class PostgresInContainer implements PostgresServer {
  private final PostgreSQLContainer container;

  private PostgresInContainer(PostgreSQLContainer container) {
    this.container = container;
  }

  static PostgresInContainer start(Map<String, String> settings) {
    List<String> command = new ArrayList<>(List.of("postgres", "-c", "max_connections=200"));
    settings.forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
    PostgreSQLContainer container =
        new PostgreSQLContainer("postgres:18-alpine").withCommand(command.toArray(String[]::new));
    container.start();
    return new PostgresInContainer(container);
  }

  @Override
  public String jdbcUrl() {
    return container.getJdbcUrl();
  }

  @Override
  public String user() {
    return container.getUsername();
  }

  @Override
  public String password() {
    return container.getPassword();
  }

  @Override
  public void close() {
    container.stop();
  }
}
