package dev.outbox.embedded;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.opentest4j.TestAbortedException;

/**
 * A database server for tests: the user's own when the property {@code outbox.test.<name>.url}
 * (with {@code .user} and {@code .password}) or the variable {@code OUTBOX_TEST_<NAME>_URL} names
 * one; else a container, when Testcontainers is on the class path and Docker runs; else the
 * embedded one. The names are {@code postgres}, {@code mysql}, {@code mariadb} and {@code
 * sqlserver}; of SQL Server there is no embedded one. Who names a version, with {@code
 * outbox.test.<name>.version}, gets the embedded one of that version: see {@link EmbeddedPostgres}
 * and {@link EmbeddedMysql}. Who names an image, with {@code outbox.test.<name>.image}, gets a
 * container of it.
 *
 * <p>The methods that start one throw {@link TestAbortedException} when there is none of them, with
 * the reason; tests are then listed as skipped. When one is named that does not answer, they throw
 * {@link IllegalStateException}, having asked it once for all tests of the JVM. Their settings are
 * lines of {@code postgresql.conf} or system variables of MySQL and MariaDB; the user's own server
 * is left as it is.
 */
public interface DatabaseServer extends AutoCloseable {

  String jdbcUrl();

  /** Who may do everything, unless the server is the user's own. */
  String user();

  String password();

  /** The embedded server, when it is one: that one can be killed and restarted. */
  default Optional<EmbeddedServer> embedded() {
    return this instanceof EmbeddedServer ours ? Optional.of(ours) : Optional.empty();
  }

  /** Ends what was started for the test; a server of the user's own stays as it is. */
  @Override
  default void close() {}

  static DatabaseServer postgres() {
    return postgres(Map.of());
  }

  static DatabaseServer postgres(Map<String, String> settings) {
    return TestServers.database(
        "PostgreSQL",
        "postgres",
        "postgresql.PostgreSQLContainer",
        () -> Containers.Postgres.start(settings),
        () -> EmbeddedPostgres.builder().settings(settings).start());
  }

  static DatabaseServer mysql() {
    return mysql(Map.of());
  }

  static DatabaseServer mysql(Map<String, String> settings) {
    return TestServers.database(
        "MySQL",
        "mysql",
        "mysql.MySQLContainer",
        () -> Containers.Mysql.start(TestServers.image("mysql", "mysql:8.4"), settings),
        () -> EmbeddedMysql.builder().settings(settings).start());
  }

  static DatabaseServer mariadb() {
    return mariadb(Map.of());
  }

  static DatabaseServer mariadb(Map<String, String> settings) {
    return TestServers.database(
        "MariaDB",
        "mariadb",
        "mysql.MySQLContainer",
        () -> Containers.Mysql.start(TestServers.image("mariadb", "mariadb:11.4"), settings),
        () -> EmbeddedMysql.mariadb().settings(settings).start());
  }

  /** The nodes of a new {@linkplain EmbeddedGalera Galera cluster}, which ends with this JVM. */
  static List<DatabaseServer> galera() {
    return TestServers.orSkip("Galera", EmbeddedGalera::start, "").nodes().stream()
        .<DatabaseServer>map(
            node -> new TestServers.StayingDatabase(node.jdbcUrl(), node.user(), node.password()))
        .toList();
  }

  static DatabaseServer sqlServer() {
    return TestServers.database(
        "SQL Server",
        "sqlserver",
        "mssqlserver.MSSQLServerContainer",
        () -> Containers.SqlServer.start(),
        TestServers::none);
  }
}
