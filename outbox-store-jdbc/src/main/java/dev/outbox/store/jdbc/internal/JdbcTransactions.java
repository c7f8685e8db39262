package dev.outbox.store.jdbc.internal;

import dev.outbox.OutboxException;
import dev.outbox.PermanentOutboxException;
import dev.outbox.SchemaException;
import dev.outbox.TransientOutboxException;
import dev.outbox.store.core.internal.Names;
import dev.outbox.store.core.internal.Transactions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.HandleCallback;
import org.jdbi.v3.core.Handles;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.statement.SqlStatements;
import org.jspecify.annotations.Nullable;

/** Runs the store's own transactions and says in one sentence what went wrong with them. */
public final class JdbcTransactions implements Transactions<Handle> {

  /** How often a transaction that lost a conflict is run before the caller is told. */
  private static final int TRIES = 5;

  /** What a transaction that sets everything itself may get past: read only, serializable. */
  private static final Set<SqlDialect.Trouble> IN_THE_WAY =
      EnumSet.of(SqlDialect.Trouble.CONFLICT, SqlDialect.Trouble.READ_ONLY);

  private final Jdbi jdbi;
  private final SqlDialect dialect;
  private final Names names;
  private final Grants grants;

  private final Transactions<Handle> ofClaims =
      new Transactions<>() {
        @Override
        public <R extends @Nullable Object> R run(Duration patience, Work<Handle, R> work) {
          return runSql(patience, work::in, dialect()::beginWithLeases);
        }

        /** What a pool's connection has set may be in the way of that. */
        @Override
        public <R extends @Nullable Object> R runAlone(Duration patience, Work<Handle, R> work) {
          try (Handle handle = jdbi.open()) {
            if (dialect.beginAlone(handle, patience)) {
              return alone(handle, work);
            }
          } catch (JdbiException | SQLException e) {
            SQLException failure = sqlException(e);
            if (failure == null || !IN_THE_WAY.contains(dialect.trouble(failure))) {
              throw translate(e);
            }
          }
          return run(patience, work);
        }
      };

  /** Prepares a transaction that has just begun. */
  private interface Begin {
    void begin(Handle handle, Duration patience) throws SQLException;
  }

  public JdbcTransactions(DataSource dataSource, SqlDialect dialect, Names names) {
    jdbi = Jdbi.create(dataSource);
    // Pools may hand out connections with auto-commit off; we commit ourselves.
    jdbi.getConfig(Handles.class).setForceEndTransactions(false);
    Map<String, String> filled = new ConcurrentHashMap<>();
    jdbi.getConfig(SqlStatements.class)
        .setTemplateEngine((sql, context) -> filled.computeIfAbsent(sql, dialect::fill));
    dialect.configure(jdbi);
    this.dialect = dialect;
    this.names = names;
    grants = new Grants(dialect, names);
  }

  public SqlDialect dialect() {
    return dialect;
  }

  public Names names() {
    return names;
  }

  public Grants grants() {
    return grants;
  }

  @Override
  public <R extends @Nullable Object> R run(Duration patience, Work<Handle, R> work) {
    return runSql(patience, work::in);
  }

  @Override
  public Transactions<Handle> forClaim() {
    return ofClaims;
  }

  /** As {@link #run}, for work that does not leave all of JDBC to Jdbi. */
  <R extends @Nullable Object> R runSql(Duration patience, HandleCallback<R, SQLException> work) {
    return runSql(patience, work, (handle, time) -> dialect.begin(handle.getConnection(), time));
  }

  private <R extends @Nullable Object> R runSql(
      Duration patience, HandleCallback<R, SQLException> work, Begin begin) {
    for (int attempt = 1; ; attempt++) {
      try (Handle handle = jdbi.open()) {
        return once(handle, patience, work, begin);
      } catch (JdbiException | SQLException e) {
        SQLException failure = sqlException(e);
        if (failure == null
            || dialect.trouble(failure) != SqlDialect.Trouble.CONFLICT
            || attempt == TRIES) {
          throw translate(e);
        }
      }
    }
  }

  private <R extends @Nullable Object> R once(
      Handle handle, Duration patience, HandleCallback<R, SQLException> work, Begin begin)
      throws SQLException {
    Connection connection = handle.getConnection();
    boolean autoCommit = connection.getAutoCommit();
    connection.setAutoCommit(false);
    boolean committed = false;
    try {
      begin.begin(handle, patience);
      R result = work.withHandle(handle);
      connection.commit();
      committed = true;
      return result;
    } finally {
      boolean rollBack = !committed;
      restore(
          () -> {
            if (rollBack) {
              connection.rollback();
            }
            dialect.end(connection);
            connection.setAutoCommit(autoCommit);
          });
    }
  }

  private static <R extends @Nullable Object> R alone(Handle handle, Work<Handle, R> work)
      throws SQLException {
    Connection connection = handle.getConnection();
    boolean autoCommit = connection.getAutoCommit();
    connection.setAutoCommit(true);
    try {
      return work.in(handle);
    } finally {
      restore(() -> connection.setAutoCommit(autoCommit));
    }
  }

  private interface Restoring {
    void run() throws SQLException;
  }

  /** Never hides the failure that brought us here: a broken connection is the pool's to notice. */
  @SuppressWarnings("EmptyCatch")
  private static void restore(Restoring work) {
    try {
      work.run();
    } catch (SQLException ignored) {
      // The connection is broken, and the first failure says why.
    }
  }

  /** As {@link #translate(Exception, Grants.Role)}, for what relays and operators do. */
  OutboxException translate(Exception e) {
    return translate(e, Grants.Role.RELAY);
  }

  /**
   * Turns a failure into one of ours, with a sentence that says what to do.
   *
   * @param role whose rights it took
   */
  public OutboxException translate(Exception e, Grants.Role role) {
    if (isOutOfMemory(e)) {
      return new TransientOutboxException(
          "this process ran out of memory in a call of the %s store: raise -Xmx, or lower the relay's batchBytes or workers"
              .formatted(dialect.name()),
          e);
    }
    SQLException failure = sqlException(e);
    if (failure == null) {
      return new PermanentOutboxException(
          "the %s store failed: %s".formatted(dialect.name(), e), e);
    }
    String detail = failure.getMessage() + " (SQLSTATE " + failure.getSQLState() + ")";
    String advice = dialect.advice(failure);
    String todo = advice == null ? "" : ", " + advice;
    return switch (dialect.trouble(failure)) {
      case CONFLICT ->
          new TransientOutboxException(
              "%s gave the transaction up because another held its locks, run it again: %s"
                  .formatted(dialect.name(), detail),
              e);
      case UNREACHABLE ->
          new TransientOutboxException(
              "no connection to %s: is it running, is the URL right, is the pool large enough? %s"
                  .formatted(dialect.name(), detail),
              e);
      case MISSING_SCHEMA ->
          new SchemaException(
              "a table of the outbox is missing or of another version, migrate it (table %s): %s"
                  .formatted(names.table("message"), detail),
              e);
      case CUT_OFF ->
          new TransientOutboxException(
              "%s ended the statement or the connection, as after a time limit or a pause longer than the lease%s: %s"
                  .formatted(dialect.name(), todo, detail),
              e);
      case REFUSED ->
          new PermanentOutboxException(
              "%s refused the connection, check user, password and database: %s"
                  .formatted(dialect.name(), detail),
              e);
      case FORBIDDEN ->
          new PermanentOutboxException(
              "%s refused a statement because this user may not run it, %s: %s"
                  .formatted(dialect.name(), grants.missing(role, detail), detail),
              e);
      case FAILED_BEFORE ->
          new PermanentOutboxException(
              "the transaction has failed already, roll it back: " + detail, e);
      case READ_ONLY ->
          new PermanentOutboxException(
              "the transaction is read-only, append needs one that may write: " + detail, e);
      case OTHER ->
          new PermanentOutboxException(
              "%s refused a statement%s: %s".formatted(dialect.name(), todo, detail), e);
    };
  }

  /** Drivers make an SQLException of it, and some of those look as if the connection was lost. */
  private static boolean isOutOfMemory(Throwable e) {
    for (Throwable t = e; t != null; t = t.getCause()) {
      if (t instanceof OutOfMemoryError) {
        return true;
      }
    }
    return false;
  }

  static @Nullable SQLException sqlException(@Nullable Throwable e) {
    for (Throwable t = e; t != null; t = t.getCause()) {
      if (t instanceof SQLException sql) {
        return sql;
      }
    }
    return null;
  }
}
