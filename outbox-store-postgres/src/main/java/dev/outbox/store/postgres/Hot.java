package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.internal.SqlReads.Reader;
import dev.outbox.store.postgres.StallGuard.Settings;
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
 * eighth more. The first of a transaction brings the transaction's settings along ({@link
 * StallGuard}), so that they take no round trip of their own.
 */
final class Hot {

  /** The settings of a transaction that are still to be made. */
  public static final class Begin implements JdbiConfig<Begin> {
    private @Nullable Settings settings;
    private Duration patience = Duration.ZERO;

    public Begin() {}

    @Override
    public Begin createCopy() {
      Begin copy = new Begin();
      copy.set(settings, patience);
      return copy;
    }

    private void set(@Nullable Settings toMake, Duration time) {
      settings = toMake;
      patience = time;
    }

    private @Nullable Settings take() {
      Settings taken = settings;
      settings = null;
      return taken;
    }
  }

  /** Binds parameters. */
  interface Binder {
    void bind(Parameters parameters) throws SQLException;
  }

  private final StallGuard stallGuard;
  private final UnaryOperator<String> fill;
  private final Map<String, String> texts = new ConcurrentHashMap<>();
  private final Map<First, String> firstTexts = new ConcurrentHashMap<>();

  /**
   * @param fill fills names into a text, which is done once
   */
  Hot(StallGuard stallGuard, UnaryOperator<String> fill) {
    this.stallGuard = stallGuard;
    this.fill = fill;
  }

  /** The transaction's first statement is one of these and brings the settings along. */
  void beginWithFirst(Handle handle, Duration patience) throws SQLException {
    if (stallGuard.isTried()) {
      handle.getConfig(Begin.class).set(stallGuard.settings(), patience);
    } else {
      stallGuard.begin(handle.getConnection(), patience);
    }
  }

  /** The transaction's only statement is one of these. */
  void beginAlone(Handle handle, Duration patience) {
    handle.getConfig(Begin.class).set(StallGuard.ALONE, patience);
  }

  /** Makes the settings now, before a statement that is none of these. */
  void begin(Handle handle) {
    Begin begin = handle.getConfig(Begin.class);
    if (begin.take() != null) {
      try {
        stallGuard.begin(handle.getConnection(), begin.patience);
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

  /** Its result is that of the statement itself. */
  private PreparedStatement executed(Handle handle, String sql, Binder binder) throws SQLException {
    Connection connection = handle.getConnection();
    String text = texts.computeIfAbsent(sql, fill);
    Begin begin = handle.getConfig(Begin.class);
    Settings first = begin.take();
    PreparedStatement statement =
        connection.prepareStatement(
            first == null
                ? text
                : firstTexts.computeIfAbsent(
                    new First(first, text), each -> first.text() + "; " + text));
    try {
      if (first != null) {
        first.bind(statement, begin.patience);
      }
      binder.bind(new Parameters(statement, first == null ? 0 : first.parameters()));
      boolean ignored = statement.execute();
      for (int i = 0; first != null && i < first.results(); i++) {
        ignored = statement.getMoreResults();
      }
      return statement;
    } catch (SQLException | RuntimeException | Error e) {
      statement.close();
      throw e;
    }
  }

  private record First(Settings settings, String text) {}

  /** The parameters of a statement, one after the other. The driver sends arrays as bytes. */
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
