package dev.outbox.store.jdbc.internal;

import dev.outbox.PermanentOutboxException;
import dev.outbox.SchemaException;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.core.internal.SchemaVersion;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.sql.DataSource;

/** The tables: made by Liquibase, or printed to be made by hand; and checked. */
public record Schema(DataSource dataSource, JdbcTransactions transactions) {
  private static final Pattern LIQUIBASE = Pattern.compile("--(liquibase|changeset|comment)");
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private Server server() {
    return transactions.server();
  }

  public void migrate() {
    if (isCurrent()) {
      return; // also when it was made by hand, of which Liquibase knows nothing
    }
    try {
      LiquibaseMigration.run(dataSource, server());
    } catch (SQLException e) {
      throw transactions.translate(e);
    } catch (NoClassDefFoundError e) {
      throw new PermanentOutboxException(
          "Liquibase needs the class %s: add org.liquibase:liquibase-core:4.33.0, the last version under Apache-2.0, and what it depends on, or run the statements of ddl() by hand"
              .formatted(e.getMessage()),
          e);
    }
  }

  private boolean isCurrent() {
    try {
      return version() == TableKind.VERSION;
    } catch (SchemaException e) {
      return false;
    }
  }

  private int version() {
    try {
      return transactions.runSql(
          PATIENCE, handle -> server().schemaVersion(handle.getConnection()));
    } catch (PermanentOutboxException e) {
      identify();
      throw e;
    }
  }

  /**
   * What a server is says more than what it lacks. Where it does not tell, the first failure does.
   */
  @SuppressWarnings("EmptyCatch")
  private void identify() {
    try (Connection connection = dataSource.getConnection()) {
      boolean autoCommit = connection.getAutoCommit();
      connection.setAutoCommit(true);
      try {
        server().identify(connection);
      } finally {
        connection.setAutoCommit(autoCommit);
      }
    } catch (SQLException ignored) {
      // The caller throws what has failed before.
    }
  }

  /** The changelog without Liquibase's comments. */
  public String ddl() {
    String ddl =
        server()
            .names()
            .fill(
                PrefixedNames.resource(server().getClass(), "/" + server().changelog())
                        .lines()
                        .filter(line -> !LIQUIBASE.matcher(line).lookingAt())
                        .collect(Collectors.joining("\n"))
                        .strip()
                    + "\n");
    for (Map.Entry<String, String> parameter : server().changelogParameters().entrySet()) {
      ddl = ddl.replace("${" + parameter.getKey() + "}", parameter.getValue());
    }
    return ddl;
  }

  public String place() {
    return transactions.run(
        PATIENCE, handle -> handle.createQuery(server().place()).mapTo(String.class).one());
  }

  /** As {@link SchemaStore#missingGrants}. */
  public Optional<List<String>> missingGrants() {
    return transactions.run(
        PATIENCE, handle -> transactions.grants().lacking(handle, Grants.Role.RELAY));
  }

  public void verify() {
    int version;
    try {
      version = version();
    } catch (SchemaException e) {
      throw SchemaVersion.missing("table " + table(), server().tables().migrate, e);
    }
    check(version);
    transactions.runSql(
        PATIENCE,
        handle -> {
          server().checkRows(handle.getConnection());
          return version;
        });
  }

  /** As {@link #verify}, on a caller's connection. */
  public void verify(Connection connection) throws SQLException {
    check(server().schemaVersion(connection));
  }

  private void check(int version) {
    String table = table();
    if (version == 0) {
      throw new SchemaException(
          "table %s is empty, so its version is not known: run the migration again; if somebody deleted the row, put it back (insert into %s (version) values (%s))"
              .formatted(table, table, TableKind.VERSION));
    }
    SchemaVersion.check(table, version, TableKind.VERSION, server().tables().migrate);
  }

  private String table() {
    return server().names().table("schema");
  }
}
