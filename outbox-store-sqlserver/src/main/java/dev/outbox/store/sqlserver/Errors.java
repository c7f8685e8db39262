package dev.outbox.store.sqlserver;

import dev.outbox.store.jdbc.internal.JdbcTransactions;
import dev.outbox.store.jdbc.internal.Server.Trouble;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/** What error numbers mean. Those without one are the driver's own. */
final class Errors {
  private Errors() {}

  static Trouble trouble(SQLException failure) {
    if (failure instanceof SQLTimeoutException) {
      return Trouble.CUT_OFF;
    }
    if (failure instanceof SQLTransientConnectionException) {
      return Trouble.UNREACHABLE;
    }
    return switch (failure.getErrorCode()) {
      // Deadlock; update conflicts of snapshots, with a change of data or of a table; no locks
      // left; lock time-out; rows that moved under NOLOCK; a snapshot whose rows are gone; no
      // memory for the statement.
      case 1205, 3960, 3961, 1204, 1222, 601, 3958, 3966, 701, 8645 -> Trouble.CONFLICT;
      // The same row added by two at once; of a message never.
      case 2601, 2627 -> isMessage(failure) ? Trouble.OTHER : Trouble.CONFLICT;
      // No such column, table, index, schema.
      case 207, 208, 308, 2760 -> Trouble.MISSING_SCHEMA;
      case 3906 -> Trouble.READ_ONLY;
      // Time limits, for a page in memory and for the optimizer.
      case 845, 8628 -> Trouble.CUT_OFF;
      // No room in the log, in the files: for an object, for a page.
      case 9002, 1105, 1101 -> Trouble.EXHAUSTED;
      // Cannot be committed, at a write and at the batch's end; gone, as after XACT_ABORT.
      case 3930, 3998, 3971 -> Trouble.FAILED_BEFORE;
      // No right to the database; login refused: password, untrusted, locked, expired.
      case 916, 18456, 18452, 18486, 18487, 18488 -> Trouble.REFUSED;
      // No right to the table, to a column, to make one.
      case 229, 230, 262 -> Trouble.FORBIDDEN;
      // Recovering or failing over; offline, in transition; a secondary that is not read; being
      // upgraded; paused or shutting down.
      case 3908, 922, 976, 978, 983, 942, 952, 4221, 18401, 17142, 6005 -> Trouble.UNREACHABLE;
      // What Azure SQL calls transient: cannot be opened, which may also be a wrong name; not
      // found, suspect while it moves; too many sessions or workers, busy, moving, being created.
      case 4060, 615, 926 -> Trouble.UNREACHABLE;
      case 10928, 10929, 40197, 40020, 40143, 40166, 40540, 40501, 40613 -> Trouble.UNREACHABLE;
      case 49918, 49919, 49920 -> Trouble.UNREACHABLE;
      // Killed.
      case 596 -> Trouble.LOST;
      case 0 -> withoutNumber(failure);
      default -> Trouble.OTHER;
    };
  }

  /**
   * The driver says 08S01 both where it cannot connect and where a connection breaks, and the rest
   * in the language of the JVM.
   */
  private static Trouble withoutNumber(SQLException failure) {
    String state = failure.getSQLState() == null ? "" : failure.getSQLState();
    if (state.equals("HY008")) {
      return Trouble.CUT_OFF; // a statement of a batch has timed out
    }
    if (!state.startsWith("08")) {
      return Trouble.OTHER;
    }
    return String.valueOf(failure.getMessage()).contains("TCP/IP")
            || JdbcTransactions.cause(failure, SSLHandshakeException.class) != null
            || state.equals("08001")
        ? Trouble.UNREACHABLE
        : Trouble.LOST;
  }

  private static boolean isMessage(SQLException failure) {
    return String.valueOf(failure.getMessage()).contains("message_pk");
  }

  static @Nullable String advice(SQLException failure) {
    return switch (failure.getErrorCode()) {
      // Syntax, near a text or a keyword: the columns behind OPENJSON.
      case 102, 156, 319 ->
          "the database's compatibility level must be at least 130 (alter database current set compatibility_level = 150)";
      case 2601, 2627 ->
          isMessage(failure)
              ? "the sequence was set back and meets messages that are there: set it above all of them (dbcc checkident ('<message table>', reseed, <highest seq>))"
              : null;
      case 8622 ->
          "no plan has the seeks that it asks for: is an index of the outbox missing (compare with ddl()), or has the database PARAMETERIZATION FORCED?";
      case 9002 ->
          "the transaction log is full: log_reuse_wait_desc in sys.databases says what keeps it from being reused";
      case 1105, 1101 -> "the database's files are full: give them room";
      case 650 ->
          "the session's isolation level was changed by SQL, where the driver cannot see it: use setTransactionIsolation";
      case 1934 ->
          "the session needs QUOTED_IDENTIFIER, ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS and CONCAT_NULL_YIELDS_NULL on and NUMERIC_ROUNDABORT off, because the tables have computed columns";
      default -> null;
    };
  }
}
