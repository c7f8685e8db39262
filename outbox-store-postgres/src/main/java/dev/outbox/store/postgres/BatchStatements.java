package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.internal.SqlReads.Reader;
import dev.outbox.store.postgres.TransactionSettings.Preamble;
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
 * eighth more. The first statement of a transaction is sent together with the {@link
 * TransactionSettings}, so that these take no round trip of their own.
 */
final class BatchStatements {

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

  /** Begins a transaction whose first statement is run here, and brings the settings along. */
  void beginWithFirst(Handle handle, Duration patience) {
    handle.getConfig(Begin.class).set(TransactionSettings.SEVERAL, patience);
  }

  /** Begins a transaction whose only statement is run here. */
  void beginSingle(Handle handle, Duration patience) {
    handle.getConfig(Begin.class).set(TransactionSettings.SINGLE, patience);
  }

  /** Makes the settings now, where the next statement is not run here. */
  void begin(Handle handle) {
    Begin begin = handle.getConfig(Begin.class);
    if (begin.take() != null) {
      try {
        TransactionSettings.begin(handle.getConnection(), begin.patience);
      } catch (SQLException e) {
        throw new TransactionException(e);
      }
    }
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
