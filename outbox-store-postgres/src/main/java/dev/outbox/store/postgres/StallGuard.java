package dev.outbox.store.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
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
 *       exists where the system has it, and is tried once. Behind a Unix socket {@link
 *       StalledClients} ends it; so that the housekeeping that does so never waits for such a
 *       client for ever, there is a {@code lock_timeout}.
 *   <li>{@code synchronous_commit}, where it is off: a lease must be durable before its messages
 *       are published, and with it all that those messages' own transactions wrote.
 *   <li>No sequential scans: a plan that was cached while a table was empty would stay when it is
 *       long. A statement that is meant to read all of a small table says {@code ctid >= '(0,0)'}:
 *       where there is nothing but a sequential scan, the planner takes it at a cost that makes the
 *       server compile the statement each time.
 *   <li>No compilation ({@code jit}): of statements as short as ours it costs a hundred times what
 *       it gains.
 * </ul>
 */
final class StallGuard {
  private static final Duration LEAST = Duration.ofSeconds(1);

  /** Prepared, so that the server parses and plans them once a connection. */
  private static final String SETTINGS =
      """
      set transaction isolation level read committed, read write;
      select set_config('idle_in_transaction_session_timeout', ?, true),
        set_config('lock_timeout', ?, true),
        set_config('enable_seqscan', 'off', true),
        set_config('jit', 'off', true),
        set_config('synchronous_commit',
          case current_setting('synchronous_commit') when 'off' then 'on'
            else current_setting('synchronous_commit') end, true)
      """;

  private static final String WITH_TCP = SETTINGS + ", set_config('tcp_user_timeout', ?, true)";

  /** How many results {@link #settings} has. */
  static final int RESULTS = 2;

  private volatile @Nullable Boolean hasTcpUserTimeout;

  void begin(Connection connection, Duration patience) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(settings())) {
      int ignored = bind(statement, patience);
      statement.execute();
    }
    if (hasTcpUserTimeout == null) {
      try (Statement statement = connection.createStatement()) {
        hasTcpUserTimeout = reads(statement, "show tcp_user_timeout");
      }
    }
  }

  /** Whether it is known which {@link #settings} there are: they stay the same from then on. */
  boolean isTried() {
    return hasTcpUserTimeout != null;
  }

  /** The statements that begin a transaction. */
  String settings() {
    return hasTcp() ? WITH_TCP : SETTINGS;
  }

  private boolean hasTcp() {
    return !Boolean.FALSE.equals(hasTcpUserTimeout);
  }

  /** Binds the parameters of {@link #settings}, and returns how many there are. */
  int bind(PreparedStatement statement, Duration patience) throws SQLException {
    long millis = Math.min(Integer.MAX_VALUE, Math.max(LEAST.toMillis(), patience.toMillis()));
    int parameters = hasTcp() ? 3 : 2;
    for (int i = 1; i <= parameters; i++) {
      statement.setString(i, Long.toString(millis));
    }
    return parameters;
  }

  /** Where the system does not have it, the setting stays 0 and the server logs each attempt. */
  private static boolean reads(Statement statement, String show) throws SQLException {
    try (ResultSet rows = statement.executeQuery(show)) {
      return rows.next() && !rows.getString(1).equals("0");
    }
  }
}
