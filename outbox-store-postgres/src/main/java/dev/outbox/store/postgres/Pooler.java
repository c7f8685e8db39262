package dev.outbox.store.postgres;

import dev.outbox.PermanentOutboxException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import org.postgresql.PGConnection;
import org.postgresql.PGStatement;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;

/**
 * Refuses a connection whose prepared statements a pooler would mix up: docs/design/postgresql.md
 * says how that shows.
 *
 * <p>The driver numbers its statements for each connection and prepares those that come back,
 * {@code commit} among them. Some poolers give every transaction another server process, as
 * PgBouncer does in transaction mode. Then it runs what another client prepared there under the
 * same name, mostly without an error, and a commit that was none is acknowledged.
 */
final class Pooler {
  /** What to do, also when the database refuses a statement for this reason. */
  static final String REMEDY =
      "set prepareThreshold=0 in the JDBC URL, or use PgBouncer 1.21 or newer with max_prepared_statements";

  private static final String PROCESS = "select pg_backend_pid()";

  /** Finds itself, and is only true under a name that the driver does not give. */
  private static final String CARRIED =
      """
      select bool_or(name !~ '^S_[0-9]+$') from pg_prepared_statements
      where statement like '%what the outbox asks its pooler%'
      """;

  private static final List<String> STATES = List.of("26000", "42P05", "08P01");

  private final boolean keepsSessions;
  private final Map<PGConnection, Boolean> seen = Collections.synchronizedMap(new WeakHashMap<>());

  /**
   * @param keepsSessions whether a pooler, if there is one, keeps a session on its process
   */
  Pooler(boolean keepsSessions) {
    this.keepsSessions = keepsSessions;
  }

  /** Asks the server once a connection. */
  void check(Connection connection) throws SQLException {
    if (keepsSessions || !isDriver(connection)) {
      return;
    }
    PGConnection driver = connection.unwrap(PGConnection.class);
    if (driver.getPrepareThreshold() == 0 || seen.containsKey(driver)) {
      return;
    }
    int server = process(connection);
    if (server != driver.getBackendPID() && !carriesStatements(connection)) {
      throw new PermanentOutboxException(
          "there is a pooler between the driver and the server (the driver was told process %s, the server's is %s), and with prepareThreshold=%s one that changes processes between transactions runs wrong statements: %s, or say poolerKeepsSessions() where it keeps a session's process, as with pool_mode=session"
              .formatted(driver.getBackendPID(), server, driver.getPrepareThreshold(), REMEDY));
    }
    seen.put(driver, true);
  }

  /**
   * Whether a prepared statement was missing, there already, or another one. PgBouncer's own errors
   * have the last state, too.
   */
  static boolean isMixedUp(SQLException failure) {
    return failure.getSQLState() != null && STATES.contains(failure.getSQLState());
  }

  /** What PgBouncer says to a begin, with the same state. */
  static boolean isWithoutTransactions(SQLException failure) {
    return String.valueOf(failure.getMessage()).contains("statement pooling mode");
  }

  /** Whether a connection is a session of the server's for as long as it lasts. */
  boolean keepsSession(Connection connection) throws SQLException {
    return keepsSessions
        || isDriver(connection)
            && process(connection) == connection.unwrap(PGConnection.class).getBackendPID();
  }

  static boolean isDriver(Connection connection) throws SQLException {
    try {
      return connection.isWrapperFor(PGConnection.class);
    } catch (NoClassDefFoundError e) {
      return false; // another driver
    }
  }

  /**
   * What the driver knows of the connection's transaction, without a round trip; empty where it is
   * another driver's.
   */
  static Optional<TransactionState> transactionState(Connection connection) {
    try {
      return isDriver(connection)
          ? Optional.of(connection.unwrap(BaseConnection.class).getTransactionState())
          : Optional.empty();
    } catch (SQLException e) {
      return Optional.empty();
    }
  }

  /** By a statement that the driver never prepares. */
  private static int process(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(PROCESS)) {
      row.next();
      return row.getInt(1);
    }
  }

  /** By one that it prepares at once. */
  private static boolean carriesStatements(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(CARRIED)) {
      statement.unwrap(PGStatement.class).setPrepareThreshold(1);
      try (ResultSet row = statement.executeQuery()) {
        return row.next() && row.getBoolean(1);
      }
    } catch (SQLException e) {
      if (isMixedUp(e)) {
        return false;
      }
      throw e;
    }
  }
}
