package dev.outbox.store.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Sets what each transaction of ours needs, in one round trip: docs/design/postgresql.md says why.
 * All of it ends with the transaction, because behind PgBouncer a session belongs to nobody.
 */
final class TransactionSettings {
  private static final Duration LEAST = Duration.ofSeconds(1);

  /**
   * The statements that make the settings, at the begin of a transaction. They are prepared, so
   * that the server parses and plans them once a connection.
   *
   * @param results how many they have
   * @param parameters how many they have; each is the time after which a client is stalled
   */
  record Preamble(String text, int results, int parameters) {

    /** Binds the parameters, which come first in the statement. */
    void bind(PreparedStatement statement, Duration patience) throws SQLException {
      long millis = Math.min(Integer.MAX_VALUE, Math.max(LEAST.toMillis(), patience.toMillis()));
      for (int i = 1; i <= parameters; i++) {
        statement.setString(i, Long.toString(millis));
      }
    }
  }

  /**
   * For a transaction of several statements. Only Linux has the TCP setting, and a server elsewhere
   * logs each attempt to set it. On a Unix socket it is ignored.
   */
  static final Preamble SEVERAL =
      new Preamble(
          """
          set transaction isolation level read committed, read write;
          select set_config('idle_in_transaction_session_timeout', ?, true),
            set_config('lock_timeout', ?, true),
            set_config('tcp_user_timeout',
              case when version() like '%linux%' then ? else '0' end, true),
            set_config('enable_seqscan', 'off', true),
            set_config('jit', 'off', true),
            set_config('synchronous_commit',
              case current_setting('synchronous_commit') when 'off' then 'on'
                else current_setting('synchronous_commit') end, true)
          """,
          2, 3);

  /**
   * For one statement that is all of its transaction and brings little. It is sent along with
   * these, and the server waits for nothing in between. Its plan is made once: left to itself the
   * server may plan it anew each time, which takes four times as long as to run it.
   */
  static final Preamble SINGLE =
      new Preamble(
          """
          select set_config('lock_timeout', ?, true),
            set_config('enable_seqscan', 'off', true),
            set_config('jit', 'off', true),
            set_config('plan_cache_mode', 'force_generic_plan', true)
          """,
          1,
          1);

  private TransactionSettings() {}

  /** Makes the settings of a transaction of several statements. */
  static void begin(Connection connection, Duration patience) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(SEVERAL.text())) {
      SEVERAL.bind(statement, patience);
      statement.execute();
    }
  }
}
