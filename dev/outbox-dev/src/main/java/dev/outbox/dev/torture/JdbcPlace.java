package dev.outbox.dev.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.dev.Jdbc;
import dev.outbox.dev.torture.Handling.Way;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A relational database, as a process uses it. */
final class JdbcPlace implements Place<Connection> {
  /** Of a pool: so long a client waits for a connection. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final String COMMIT_LATER = "torture commit later";

  private final Dialect dialect;
  private final HikariDataSource pool;
  private final JdbcOutboxStore store;

  JdbcPlace(Dialect dialect, Archive archive, String url, String user, String password, int size) {
    this.dialect = dialect;
    pool = Jdbc.pool(url, user, password, size, PATIENCE);
    store = dialect.kind().store(pool).archive(archive).build();
  }

  @Override
  public JdbcOutboxStore store() {
    return store;
  }

  @Override
  public JdbcInboxStore inbox(@Nullable Duration retention) {
    JdbcInboxStore.Builder<?, ?> inbox = dialect.kind().inbox(pool);
    return (retention == null ? inbox : inbox.retention(retention)).build();
  }

  @Override
  public boolean run(Doing<Connection> doing) {
    try {
      return Jdbc.transaction(pool, doing::in);
    } catch (SQLException e) {
      throw away(e);
    }
  }

  @Override
  public void effect(Connection connection, Way way, UUID message) {
    update(
        connection,
        "insert into torture_effect (way, message) values (?, ?)",
        way.name(),
        message.toString());
  }

  @Override
  public boolean canCommitLater() {
    return dialect.kind().has(COMMIT_LATER);
  }

  @Override
  public Business begin(Appending<Connection> appending) {
    try {
      Connection connection = pool.getConnection();
      try {
        connection.setAutoCommit(false);
        return new OnConnection(connection, appending);
      } catch (SQLException e) {
        connection.close();
        throw e;
      }
    } catch (SQLException e) {
      throw away(e);
    }
  }

  /** What fails here passes, as all that a fault can do. */
  static TransientOutboxException away(SQLException e) {
    return new TransientOutboxException(String.valueOf(e.getMessage()), e);
  }

  private static void update(Connection connection, String sql, @Nullable Object... parameters) {
    try (PreparedStatement update = connection.prepareStatement(sql)) {
      for (int i = 0; i < parameters.length; i++) {
        update.setObject(i + 1, parameters[i]);
      }
      update.executeUpdate();
    } catch (SQLException e) {
      throw away(e);
    }
  }

  private final class OnConnection implements Business {
    private final Connection connection;
    private final Appending<Connection> appending;
    private final List<Uncommitted> appended = new ArrayList<>();
    private boolean committed;

    OnConnection(Connection connection, Appending<Connection> appending) {
      this.connection = connection;
      this.appending = appending;
    }

    @Override
    public void commitLater() {
      try (Statement statement = connection.createStatement()) {
        statement.execute(dialect.kind().sql(COMMIT_LATER));
      } catch (SQLException e) {
        throw away(e);
      }
    }

    @Override
    public int lock(String key) {
      query(dialect.kind().sql("torture lock key"), key);
      return query(dialect.kind().sql("torture read key"), key);
    }

    private int query(String sql, String parameter) {
      try (PreparedStatement select = connection.prepareStatement(sql)) {
        select.setString(1, parameter);
        try (ResultSet rows = select.executeQuery()) {
          if (!rows.next()) {
            throw new SQLException("no row for " + parameter);
          }
          Object first = rows.getObject(1);
          return first instanceof Number number ? number.intValue() : 0;
        }
      } catch (SQLException e) {
        throw away(e);
      }
    }

    @Override
    public Set<UUID> append(List<OutboxMessage> messages) {
      Uncommitted uncommitted = appending.append(connection, messages);
      appended.add(uncommitted);
      return uncommitted.appended().duplicates();
    }

    /** It is told of the commit all the same, as by a framework that knows no savepoints. */
    @Override
    public void appendInVain(List<OutboxMessage> messages) {
      try {
        Savepoint before = connection.setSavepoint();
        Set<UUID> ignored = append(messages);
        connection.rollback(before);
      } catch (SQLException e) {
        throw away(e);
      }
    }

    @Override
    public void appendPlain(OutboxMessage message, int stallMillis) {
      update(
          connection,
          dialect.kind().sql("torture slow insert"),
          message.id().toString(),
          message.aggregateType(),
          message.aggregateId(),
          message.eventType(),
          message.payload(),
          stallMillis / 1_000.0);
    }

    @Override
    public void appended(Work work, @Nullable String dedup) {
      update(
          connection,
          "insert into torture_work (id, name, nth, kind, dedup) values (?, ?, ?, ?, ?)",
          work.id().toString(),
          work.key(),
          work.nth(),
          work.kind().name(),
          dedup);
    }

    @Override
    public void refused(UUID id, String dedup) {
      update(
          connection,
          "insert into torture_refused (id, dedup) values (?, ?)",
          id.toString(),
          dedup);
    }

    @Override
    public void last(String key, int number) {
      update(connection, "update torture_key set last = ? where name = ?", number, key);
    }

    @Override
    public void commit() {
      try {
        connection.commit();
        committed = true;
        appended.forEach(Uncommitted::committed);
      } catch (SQLException e) {
        throw away(e);
      }
    }

    @Override
    public void close() {
      try (connection) {
        if (!committed) {
          connection.rollback();
        }
      } catch (SQLException e) {
        throw away(e);
      }
    }
  }

  @Override
  public void exhaust(long millis) {
    Exhaustion.begin(pool.getMaximumPoolSize(), pool::getConnection, millis);
  }

  @Override
  public void close() {
    pool.close();
  }
}
