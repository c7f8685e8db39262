package dev.outbox.store.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Sets each transaction of ours up, in one round trip, by statements that end with the transaction:
 * behind PgBouncer a session belongs to nobody.
 *
 * <ul>
 *   <li>READ COMMITTED: the reads of a claim must see what was committed before its lease.
 *   <li>A client that stops inside a transaction would hold its bucket rows for ever, and others
 *       would skip them for ever. When it owes a statement, {@code
 *       idle_in_transaction_session_timeout} ends it. When it stops while a large result is on its
 *       way, the server is not idle but writing, and only {@code tcp_user_timeout} ends it; that
 *       exists where the system has it, and is tried once.
 *   <li>{@code synchronous_commit}, where it is off: a lease must be durable before its messages
 *       are published, and with it all that those messages' own transactions wrote.
 *   <li>No sequential scans: a plan that was cached while a table was empty would stay when it is
 *       long.
 * </ul>
 */
final class StallGuard {
  private static final Duration LEAST = Duration.ofSeconds(1);

  private static final String SETTINGS =
      """
      set transaction isolation level read committed, read write;
      set local idle_in_transaction_session_timeout = %1$d;
      set local enable_seqscan = off;
      %2$s
      select set_config('synchronous_commit',
        case current_setting('synchronous_commit') when 'off' then 'on'
          else current_setting('synchronous_commit') end, true)
      """;

  private volatile @Nullable Boolean hasTcpUserTimeout;

  void begin(Connection connection, Duration patience) throws SQLException {
    long millis = Math.min(Integer.MAX_VALUE, Math.max(LEAST.toMillis(), patience.toMillis()));
    try (Statement statement = connection.createStatement()) {
      Boolean known = hasTcpUserTimeout;
      String tcp =
          Boolean.FALSE.equals(known) ? "" : "set local tcp_user_timeout = " + millis + ";";
      statement.execute(SETTINGS.formatted(millis, tcp));
      if (known == null) {
        hasTcpUserTimeout = reads(statement, "show tcp_user_timeout");
      }
    }
  }

  /** Where the system does not have it, the setting stays 0 and the server logs each attempt. */
  private static boolean reads(Statement statement, String show) throws SQLException {
    try (ResultSet rows = statement.executeQuery(show)) {
      return rows.next() && !rows.getString(1).equals("0");
    }
  }
}
