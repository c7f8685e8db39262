package dev.outbox.store.jdbc.internal;

import dev.outbox.PermanentOutboxException;
import dev.outbox.store.core.internal.PrefixedNames;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import liquibase.Contexts;
import liquibase.LabelExpression;
import liquibase.Liquibase;
import liquibase.Scope;
import liquibase.UpdateSummaryEnum;
import liquibase.database.Database;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import liquibase.exception.LockException;
import liquibase.resource.ClassLoaderResourceAccessor;
import liquibase.structure.core.Schema;
import liquibase.ui.LoggerUIService;
import org.jspecify.annotations.Nullable;

/** The only class that needs Liquibase. */
final class LiquibaseMigration {
  /**
   * Liquibase makes two tables for itself before it has its lock. Of several processes that migrate
   * an empty database at once, all but one may fail at each of them; after that they wait for the
   * lock.
   */
  private static final int TRIES = 3;

  private static final String LOCK_TABLE = "databasechangeloglock";

  private LiquibaseMigration() {}

  /**
   * @throws PermanentOutboxException for the first failure; those of the further tries are
   *     suppressed in it. At once when another process keeps Liquibase's lock for minutes
   */
  static void run(DataSource dataSource, Server server) throws SQLException {
    List<PermanentOutboxException> failures = new ArrayList<>();
    while (failures.size() < TRIES) {
      try {
        tryOnce(dataSource, server);
        return;
      } catch (PermanentOutboxException e) {
        if (lockOf(e) != null) {
          throw e;
        }
        failures.add(e);
        makeChangesTable(dataSource, server, e);
      }
    }
    PermanentOutboxException first = failures.remove(0);
    failures.forEach(first::addSuppressed);
    throw first;
  }

  /** Liquibase's own has no primary key, which a server may demand. */
  private static void makeChangesTable(DataSource dataSource, Server server, Exception failure)
      throws SQLException {
    SQLException refused = JdbcTransactions.cause(failure, SQLException.class);
    String changes = refused == null ? null : server.changesTable(refused);
    if (changes != null) {
      try (Connection connection = dataSource.getConnection();
          Statement statement = connection.createStatement()) {
        statement.execute(server.names().fill(changes));
      }
    }
  }

  private static void tryOnce(DataSource dataSource, Server server) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      update(connection, server);
    } catch (SQLException e) {
      throw e;
    } catch (Exception e) {
      LockException locked = lockOf(e);
      if (locked != null) {
        throw new PermanentOutboxException(
            "migration of %s failed: %s. If nobody migrates there now, one was killed while it did: \"delete from %s\" lets go"
                .formatted(
                    server.names().table("*"),
                    locked.getMessage(),
                    server.names().table(LOCK_TABLE)),
            e);
      }
      SQLException cause = JdbcTransactions.cause(e, SQLException.class);
      boolean forbidden = cause != null && server.trouble(cause) == Server.Trouble.FORBIDDEN;
      throw new PermanentOutboxException(
          "migration of %s failed%s: %s"
              .formatted(
                  server.names().table("*"),
                  forbidden ? ", run it as a user who may make tables there" : "",
                  cause != null ? cause.getMessage() : String.valueOf(e.getMessage())),
          e);
    }
  }

  private static @Nullable LockException lockOf(Exception e) {
    return JdbcTransactions.cause(e, LockException.class);
  }

  private static void update(Connection connection, Server server) throws Exception {
    PrefixedNames names = server.names();
    Database database =
        DatabaseFactory.getInstance()
            .findCorrectDatabaseImplementation(new JdbcConnection(connection));
    // Where Liquibase's own tables go; our statements name the schema. Not by the default schema,
    // which it refuses to set on SQL Server.
    if (names.schema() != null && database.supports(Schema.class)) {
      database.setLiquibaseSchemaName(names.schema());
    } else if (names.schema() != null) {
      database.setLiquibaseCatalogName(names.schema()); // on MySQL the same by another name
    }
    // One changelog table a prefix: in a common one the second outbox in a database fails the
    // checksum validation, because the names are part of the statements.
    database.setDatabaseChangeLogTableName(names.prefix() + "databasechangelog");
    database.setDatabaseChangeLogLockTableName(names.prefix() + LOCK_TABLE);
    Scope.child(
        // Its messages go to the log, not to standard output.
        Map.of(Scope.Attr.ui.name(), new LoggerUIService()),
        () -> {
          Liquibase liquibase =
              new Liquibase(
                  server.changelog(),
                  new ClassLoaderResourceAccessor(server.getClass().getClassLoader()),
                  database);
          liquibase.setShowSummary(UpdateSummaryEnum.OFF);
          liquibase.setChangeLogParameter("q", names.qualifier());
          liquibase.setChangeLogParameter("p", names.prefix());
          server.changelogParameters().forEach(liquibase::setChangeLogParameter);
          liquibase.update(new Contexts(), new LabelExpression());
        });
  }
}
