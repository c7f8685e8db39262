package dev.outbox.store.mysql;

import static dev.outbox.store.jdbc.internal.JdbcTransactions.cause;

import dev.outbox.store.jdbc.internal.Server.Trouble;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;

/** What error numbers mean. Those without one are the driver's own. */
final class Errors {
  private Errors() {}

  static Trouble trouble(SQLException failure) {
    return switch (failure.getErrorCode()) {
      // Deadlock; lock wait timeout; NOWAIT; MariaDB: changed since the snapshot; group
      // replication: another server has changed the same, so the commit fails.
      case 1213, 1205, 3572, 1020, 3101 -> Trouble.CONFLICT;
      // No table, column, schema.
      case 1146, 1054, 1109 -> Trouble.MISSING_SCHEMA;
      // Read-only transaction, server.
      case 1792, 1290, 1836 -> Trouble.READ_ONLY;
      // Wrong user or password, no such database.
      case 1045, 1698, 1049 -> Trouble.REFUSED;
      // No right to the database, to the table, to a column, to do that at all.
      case 1044, 1142, 1143, 1227 -> Trouble.FORBIDDEN;
      // Too many connections, of the server, of the user; starting up or out of memory for one.
      case 1040, 1203, 1226, 1135, 1041 -> Trouble.UNREACHABLE;
      // The disk or a tablespace is full, no memory.
      case 1021, 1114, 1037, 1038 -> Trouble.EXHAUSTED;
      // Interrupted; time limits of statements and of sessions.
      case 1317, 3024, 1969, 4031 -> Trouble.CUT_OFF;
      // Shut down, killed; the network, and its time limits.
      case 1053, 1927, 3169, 1158, 1159, 1160, 1161 -> Trouble.LOST;
      // Of a temporary file or a log the operating system's own words tell it.
      default ->
          String.valueOf(failure.getMessage()).contains("No space left on device")
              ? Trouble.EXHAUSTED
              : withoutNumber(failure);
    };
  }

  private static Trouble withoutNumber(SQLException failure) {
    String state = failure.getSQLState() == null ? "" : failure.getSQLState();
    if (failure instanceof SQLTransientConnectionException
        || state.equals("08001")
        || cause(failure, ConnectException.class) != null
        || cause(failure, UnknownHostException.class) != null) {
      return Trouble.UNREACHABLE;
    }
    // Connector/J ends a statement after its timeout, as that of a transaction of Spring's.
    if (failure instanceof SQLTimeoutException) {
      return Trouble.CUT_OFF;
    }
    // Connector/J refuses it itself, after setReadOnly(true).
    if (state.equals("S1009") && String.valueOf(failure.getMessage()).contains("read-only")) {
      return Trouble.READ_ONLY;
    }
    // In the middle of a result it gives no SQLSTATE of a broken connection, nor where the
    // connection broke in another thread, as the pool's, and took the statement with it.
    return state.startsWith("08")
            || cause(failure, IOException.class) != null
            || String.valueOf(failure.getMessage()).contains("after statement closed")
        ? Trouble.LOST
        : Trouble.OTHER;
  }
}
