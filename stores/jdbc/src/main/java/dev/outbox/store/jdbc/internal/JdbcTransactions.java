package dev.outbox.store.jdbc.internal;

import dev.outbox.NoTransactionException;
import dev.outbox.OutboxException;
import dev.outbox.PermanentOutboxException;
import dev.outbox.SchemaException;
import dev.outbox.TransientOutboxException;
import dev.outbox.store.core.internal.Transactions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
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

  /**
   * For so long it is run again, or for its patience where that is longer: each run may have waited
   * for a lock.
   */
  private static final Duration LEAST = Duration.ofSeconds(1);

  /**
   * Troubles that come of a connection's settings, read only or serializable: a transaction makes
   * its own.
   */
  private static final Set<Server.Trouble> IN_THE_WAY =
      EnumSet.of(Server.Trouble.CONFLICT, Server.Trouble.READ_ONLY);

  private final DataSource dataSource;
  private final AwaitedConnections connections;
  private final Jdbi jdbi;
  private final Server server;
  private final Grants grants;
  private final Grants.Role role;
  private final LongSupplier clock;

  private final Transactions<Handle> ofClaims =
      new Transactions<>() {
        @Override
        public <R extends @Nullable Object> R run(Duration patience, Work<Handle, R> work) {
          return runSql(patience, work::in, server()::beginWithLeases);
        }

        /** Falls back to a transaction where the connection's settings are in the way. */
        @Override
        public <R extends @Nullable Object> R runSingle(Duration patience, Work<Handle, R> work) {
          try (Handle handle = jdbi.open()) {
            if (server.beginSingle(handle, patience)) {
              return autoCommitted(handle, work);
            }
          } catch (JdbiException | SQLException e) {
            SQLException failure = failure(e);
            if (failure == null || !IN_THE_WAY.contains(server.trouble(failure))) {
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

  /**
   * @param role who works with the tables through these
   */
  public JdbcTransactions(DataSource dataSource, Server server, Grants.Role role) {
    this(dataSource, server, role, System::nanoTime);
  }

  JdbcTransactions(DataSource dataSource, Server server, Grants.Role role, LongSupplier clock) {
    this(dataSource, new AwaitedConnections(dataSource, clock), null, server, role, clock);
  }

  /**
   * @param session its only connection; or null
   */
  private JdbcTransactions(
      DataSource dataSource,
      AwaitedConnections connections,
      @Nullable OneConnection session,
      Server server,
      Grants.Role role,
      LongSupplier clock) {
    this.dataSource = dataSource;
    this.connections = connections;
    this.clock = clock;
    this.jdbi = Jdbi.create(session == null ? connections : session);
    // Pools may hand out connections with auto-commit off; we commit ourselves.
    jdbi.getConfig(Handles.class).setForceEndTransactions(false);
    Map<String, String> filled = new ConcurrentHashMap<>();
    jdbi.getConfig(SqlStatements.class)
        .setTemplateEngine((sql, context) -> filled.computeIfAbsent(sql, server::fill));
    server.configure(jdbi);
    this.server = server;
    this.role = role;
    grants = new Grants(server);
  }

  public Server server() {
    return server;
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

  @Override
  public @Nullable Transactions<Handle> ofOneSession() {
    if (!PoolSize.reserveSession(dataSource)) {
      return null;
    }
    try {
      OneConnection session =
          new OneConnection(dataSource.getConnection(), () -> PoolSize.giveBackSession(dataSource));
      return session.inTransactions(
          new JdbcTransactions(dataSource, connections, session, server, role, clock));
    } catch (SQLException | RuntimeException e) {
      PoolSize.giveBackSession(dataSource);
      throw translate(e);
    } catch (Error e) {
      PoolSize.giveBackSession(dataSource);
      throw e;
    }
  }

  @Override
  public Duration waiting() {
    return connections.longest();
  }

  /** As {@link #run}, for work that does not leave all of JDBC to Jdbi. */
  public <R extends @Nullable Object> R runSql(
      Duration patience, HandleCallback<R, SQLException> work) {
    return runSql(patience, work, (handle, time) -> server.begin(handle.getConnection(), time));
  }

  private <R extends @Nullable Object> R runSql(
      Duration patience, HandleCallback<R, SQLException> work, Begin begin) {
    long end = clock.getAsLong() + Math.max(patience.toNanos(), LEAST.toNanos());
    for (int attempt = 1; ; attempt++) {
      try (Handle handle = jdbi.open()) {
        return once(handle, patience, work, begin);
      } catch (JdbiException | SQLException e) {
        SQLException failure = failure(e);
        if (failure == null
            || server.trouble(failure) != Server.Trouble.CONFLICT
            || attempt == TRIES
            || clock.getAsLong() - end >= 0) {
          throw translate(e);
        }
      }
    }
  }

  /**
   * Ends a connection whose server takes no writes, though the transaction is one that may write:
   * another has become the primary, and the next connection may come to that. The pool sees so in
   * the rollback.
   */
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
    } catch (JdbiException | SQLException e) {
      SQLException failure = failure(e);
      if (failure != null && server.trouble(failure) == Server.Trouble.READ_ONLY) {
        abandon(connection);
      }
      throw e;
    } finally {
      boolean rollBack = !committed;
      quietly(
          () -> {
            if (rollBack) {
              connection.rollback(); // or else nothing more: to set auto-commit would commit
            }
            try {
              server.end(connection);
            } finally {
              connection.setAutoCommit(autoCommit);
            }
          });
    }
  }

  private static <R extends @Nullable Object> R autoCommitted(Handle handle, Work<Handle, R> work)
      throws SQLException {
    Connection connection = handle.getConnection();
    if (connection.getAutoCommit()) { // to set it again is a round trip with some drivers
      return work.in(handle);
    }
    connection.setAutoCommit(true);
    try {
      return work.in(handle);
    } finally {
      quietly(() -> connection.setAutoCommit(false));
    }
  }

  /** Refuses a connection of the caller's that is not in a transaction (A2, I1). */
  public static void requireTransaction(Connection connection) throws SQLException {
    if (connection.getAutoCommit()) {
      throw new NoTransactionException(
          "the connection is in auto-commit mode, so there is no transaction to join: call setAutoCommit(false) or use your framework's transaction");
    }
  }

  /** What is done to a connection at its end. */
  interface Ending {
    void run() throws SQLException;
  }

  /** Never hides the failure that brought us here: a broken connection is the pool's to notice. */
  @SuppressWarnings("EmptyCatch")
  static void quietly(Ending ending) {
    try {
      ending.run();
    } catch (SQLException ignored) {
      // It has ended already, or the first failure says why.
    }
  }

  /**
   * Ends a session. The pool, if there is one, sees so in the statement that fails next. It is not
   * asked to abort: c3p0 would never have the connection back.
   */
  static void abandon(Connection connection) {
    quietly(() -> connection.unwrap(Connection.class).abort(Runnable::run));
  }

  /** As {@link #translate(Exception, Set)}, for what is done through these. */
  public OutboxException translate(Exception e) {
    return translate(e, Set.of(role));
  }

  /**
   * Turns a failure into one of ours, with a sentence that says what to do.
   *
   * @param whose rights it took
   */
  public OutboxException translate(Exception e, Set<Grants.Role> whose) {
    String name = server.name();
    // Drivers make an SQLException of it, and some of those look as if the connection was lost.
    if (cause(e, OutOfMemoryError.class) != null) {
      return new TransientOutboxException(
          "this process ran out of memory in a call of the %s store: raise -Xmx, or lower the relay's batchBytes or workers"
              .formatted(name),
          e);
    }
    SQLException failure = failure(e);
    if (failure == null) {
      return new PermanentOutboxException("the %s store failed: %s".formatted(name, e), e);
    }
    String detail = failure.getMessage() + " (SQLSTATE " + failure.getSQLState() + ")";
    String advice = server.advice(failure);
    String todo = advice == null ? "" : ", " + advice;
    String sentence =
        switch (trouble(failure)) {
          case CONFLICT ->
              "%s gave the transaction up because another held its locks, run it again%s: "
                  .formatted(name, todo);
          case UNREACHABLE ->
              "no connection to %s: is it running, is the URL right, is the pool large enough? "
                  .formatted(name);
          case MISSING_SCHEMA ->
              detail.contains(server.names().table("archive_"))
                  ? "there is no archive, or one of another version, make it with outbox migrate --archive=full: "
                  : "a table is missing or of another version, migrate the database (table %s): "
                      .formatted(server.names().table("message"));
          case CUT_OFF ->
              "%s ended the statement or the connection, as after a time limit or a pause longer than the lease%s: "
                  .formatted(name, todo);
          case LOST ->
              "the connection to %s was lost: the server was stopped or has crashed, or somebody or the network has ended the connection%s: "
                  .formatted(name, todo);
          case EXHAUSTED ->
              "%s has no disk space or memory left for this, free some%s: ".formatted(name, todo);
          case REFUSED -> name + " refused the connection, check user, password and database: ";
          case FORBIDDEN ->
              "%s refused a statement because this user may not run it, %s: "
                  .formatted(name, grants.missing(whose, detail));
          case FAILED_BEFORE -> "the transaction has failed already, roll it back: ";
          case READ_ONLY -> "the transaction is read-only, and this needs one that may write: ";
          case OTHER -> "%s refused a statement%s: ".formatted(name, todo);
        };
    return switch (trouble(failure)) {
      case CONFLICT, UNREACHABLE, CUT_OFF, LOST, EXHAUSTED ->
          new TransientOutboxException(sentence + detail, e);
      case MISSING_SCHEMA -> new SchemaException(sentence + detail, e);
      case REFUSED, FORBIDDEN, FAILED_BEFORE, READ_ONLY, OTHER ->
          new PermanentOutboxException(sentence + detail, e);
    };
  }

  /**
   * The first that says a state: a pool's own failure may have none, and the driver's as a cause.
   */
  private static @Nullable SQLException failure(Exception e) {
    SQLException first = cause(e, SQLException.class);
    SQLException said = first;
    while (said != null && said.getSQLState() == null) {
      said = cause(said.getCause(), SQLException.class);
    }
    return said == null ? first : said;
  }

  /** What has no state is a pool's that has no connection to give, or took this one away. */
  private Server.Trouble trouble(SQLException failure) {
    Server.Trouble trouble = server.trouble(failure);
    return trouble == Server.Trouble.OTHER && failure.getSQLState() == null
        ? Server.Trouble.UNREACHABLE
        : trouble;
  }

  /** The first of this type among a failure and its causes; or null. */
  public static <X extends Throwable> @Nullable X cause(
      @Nullable Throwable failure, Class<X> type) {
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (type.isInstance(t)) {
        return type.cast(t);
      }
    }
    return null;
  }
}
