package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.internal.SqlReads.Reader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.config.JdbiConfig;
import org.jdbi.v3.core.transaction.TransactionException;
import org.jspecify.annotations.Nullable;

/**
 * Runs the statements that each batch needs, by plain JDBC: with Jdbi they cost the client an
 * eighth more. The first statement of a transaction is sent together with the settings that the
 * transaction needs, so that these take no round trip of their own: docs/design/postgresql.md says
 * why they are. They end with the transaction, because behind PgBouncer a session belongs to
 * nobody.
 */
final class BatchStatements {
  private static final Duration LEAST = Duration.ofSeconds(1);

  /**
   * The statements that make the settings, at the begin of a transaction. They are prepared, so
   * that the server parses and plans them once a connection.
   *
   * @param results how many they have
   * @param parameters how many they have; each is the time after which a client is stalled
   */
  private record Preamble(String text, int results, int parameters) {

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
  private static final Preamble SEVERAL =
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
  private static final Preamble SINGLE =
      new Preamble(
          """
          select set_config('lock_timeout', ?, true),
            set_config('enable_seqscan', 'off', true),
            set_config('jit', 'off', true),
            set_config('plan_cache_mode', 'force_generic_plan', true)
          """,
          1,
          1);

  /** What is to be sent ahead of a transaction's first statement; kept in the handle until then. */
  public static final class Begin implements JdbiConfig<Begin> {
    private @Nullable Preamble preamble;
    private Duration patience = Duration.ZERO;

    public Begin() {}

    @Override
    public Begin createCopy() {
      Begin copy = new Begin();
      copy.set(preamble, patience);
      return copy;
    }

    private void set(@Nullable Preamble toSend, Duration time) {
      preamble = toSend;
      patience = time;
    }

    private @Nullable Preamble take() {
      Preamble taken = preamble;
      preamble = null;
      return taken;
    }
  }

  interface Binder {
    void bind(Parameters parameters) throws SQLException;
  }

  private final UnaryOperator<String> fill;
  private final Map<String, String> texts = new ConcurrentHashMap<>();
  private final Map<First, String> firstTexts = new ConcurrentHashMap<>();

  /**
   * @param fill fills names into a text, which is done once
   */
  BatchStatements(UnaryOperator<String> fill) {
    this.fill = fill;
  }

  /** Makes the settings of a transaction of several statements. */
  static void begin(Connection connection, Duration patience) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(SEVERAL.text())) {
      SEVERAL.bind(statement, patience);
      statement.execute();
    }
  }

  /** Begins a transaction whose first statement is run here, and brings the settings along. */
  void beginWithFirst(Handle handle, Duration patience) {
    handle.getConfig(Begin.class).set(SEVERAL, patience);
  }

  /** Begins a transaction whose only statement is run here. */
  void beginSingle(Handle handle, Duration patience) {
    handle.getConfig(Begin.class).set(SINGLE, patience);
  }

  <R> R query(Handle handle, String sql, Binder binder, Reader<R> reader) {
    try (PreparedStatement statement = executed(handle, sql, binder);
        ResultSet rows = statement.getResultSet()) {
      return reader.read(rows);
    } catch (SQLException e) {
      throw new TransactionException(e);
    }
  }

  /** Returns how many rows were changed. */
  int update(Handle handle, String sql, Binder binder) {
    try (PreparedStatement statement = executed(handle, sql, binder)) {
      return statement.getUpdateCount();
    } catch (SQLException e) {
      throw new TransactionException(e);
    }
  }

  /** Runs a statement. The current result is its own, and not one of the preamble. */
  private PreparedStatement executed(Handle handle, String sql, Binder binder) throws SQLException {
    Connection connection = handle.getConnection();
    String text = texts.computeIfAbsent(sql, fill);
    Begin begin = handle.getConfig(Begin.class);
    Preamble preamble = begin.take();
    PreparedStatement statement =
        connection.prepareStatement(
            preamble == null
                ? text
                : firstTexts.computeIfAbsent(
                    new First(preamble, text), each -> preamble.text() + "; " + text));
    try {
      if (preamble != null) {
        preamble.bind(statement, begin.patience);
      }
      binder.bind(new Parameters(statement, preamble == null ? 0 : preamble.parameters()));
      boolean ignored = statement.execute();
      for (int i = 0; preamble != null && i < preamble.results(); i++) {
        ignored = statement.getMoreResults();
      }
      return statement;
    } catch (SQLException | RuntimeException | Error e) {
      statement.close();
      throw e;
    }
  }

  private record First(Preamble preamble, String text) {}

  /**
   * The parameters of a statement, one after the other. The text says of what an array is, as
   * {@code ?::int[]}: with preferQueryMode=simple the driver does not.
   */
  static final class Parameters {
    private final PreparedStatement statement;
    private int bound;

    private Parameters(PreparedStatement statement, int bound) {
      this.statement = statement;
      this.bound = bound;
    }

    Parameters add(long value) throws SQLException {
      statement.setLong(++bound, value);
      return this;
    }

    Parameters add(int value) throws SQLException {
      statement.setInt(++bound, value);
      return this;
    }

    Parameters add(String value) throws SQLException {
      statement.setString(++bound, value);
      return this;
    }

    Parameters add(UUID value) throws SQLException {
      statement.setObject(++bound, value);
      return this;
    }

    <R> Parameters integers(Collection<? extends R> rows, ToIntFunction<R> value)
        throws SQLException {
      statement.setObject(++bound, rows.stream().mapToInt(value).toArray());
      return this;
    }

    <R> Parameters longs(Collection<? extends R> rows, ToLongFunction<R> value)
        throws SQLException {
      statement.setObject(++bound, rows.stream().mapToLong(value).toArray());
      return this;
    }

    <R> Parameters booleans(Collection<R> rows, Function<R, Boolean> value) throws SQLException {
      return array("boolean", rows.stream().map(value).toArray(Boolean[]::new));
    }

    <R> Parameters texts(Collection<? extends R> rows, Function<R, @Nullable String> value)
        throws SQLException {
      return array("text", rows.stream().map(value).toArray(String[]::new));
    }

    <R> Parameters bytes(Collection<? extends R> rows, Function<R, byte[]> value)
        throws SQLException {
      return array("bytea", rows.stream().map(value).toArray(byte[][]::new));
    }

    private Parameters array(String type, Object[] values) throws SQLException {
      statement.setArray(++bound, statement.getConnection().createArrayOf(type, values));
      return this;
    }
  }
}
