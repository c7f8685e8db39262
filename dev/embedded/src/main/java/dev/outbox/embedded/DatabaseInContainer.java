package dev.outbox.embedded;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.testcontainers.containers.JdbcDatabaseContainer;
import org.testcontainers.mssqlserver.MSSQLServerContainer;
import org.testcontainers.mysql.MySQLContainer;
import org.testcontainers.postgresql.PostgreSQLContainer;
import org.testcontainers.utility.DockerImageName;

/** A database in a container; loaded only when Testcontainers is on the class path. */
final class DatabaseInContainer implements DatabaseServer {
  private final JdbcDatabaseContainer<?> container;

  private DatabaseInContainer(JdbcDatabaseContainer<?> container) {
    this.container = container;
    container.start();
  }

  static DatabaseServer postgres(Map<String, String> settings) {
    return Postgres.start(settings);
  }

  static DatabaseServer mysql(Map<String, String> settings) {
    return Mysql.start(TestServers.image("mysql", "mysql:8.4"), settings);
  }

  static DatabaseServer mariadb(Map<String, String> settings) {
    return Mysql.start(TestServers.image("mariadb", "mariadb:11.4"), settings);
  }

  static DatabaseServer sqlServer() {
    return SqlServer.start();
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

  // Classes of their own, because a project has the module of its own database only.

  private static final class Postgres {
    static DatabaseServer start(Map<String, String> settings) {
      List<String> command = new ArrayList<>(List.of("postgres", "-c", "max_connections=200"));
      settings.forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
      return new DatabaseInContainer(
          new PostgreSQLContainer(TestServers.image("postgres", "postgres:18-alpine"))
              .withCommand(command.toArray(String[]::new)));
    }
  }

  /** MariaDB's image understands what MySQL's does. */
  private static final class Mysql {
    static DatabaseServer start(String image, Map<String, String> settings) {
      List<String> command = new ArrayList<>(List.of("--max_connections=200"));
      settings.forEach((name, value) -> command.add("--" + name + "=" + value));
      return new DatabaseInContainer(
          new MySQLContainer(DockerImageName.parse(image).asCompatibleSubstituteFor("mysql"))
              .withConfigurationOverride(null) // theirs allows 1 MB a packet
              .withUsername("root")
              .withDatabaseName("outbox")
              .withUrlParam("sslMode", "DISABLED")
              .withUrlParam("allowPublicKeyRetrieval", "true")
              .withCommand(command.toArray(String[]::new)));
    }
  }

  private static final class SqlServer {
    static DatabaseServer start() {
      return new DatabaseInContainer(
          new MSSQLServerContainer(
                  TestServers.image("sqlserver", "mcr.microsoft.com/mssql/server:2022-latest"))
              .acceptLicense()
              .withUrlParam("encrypt", "false")); // its certificate is its own
    }
  }
}
