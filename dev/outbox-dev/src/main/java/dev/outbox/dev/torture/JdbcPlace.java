package dev.outbox.dev.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.cli.Address;
import dev.outbox.dev.Jdbc;
import dev.outbox.dev.bench.JdbcKind;
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
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A relational database, as a process uses it. */
final class JdbcPlace implements Place<Connection> {
  private static final String TABLES =
      """
      create table ${q}torture_key (name varchar(64) primary key, last integer not null default 0);
      create table ${q}torture_work (id varchar(36) primary key, name varchar(64) not null,
        nth integer not null, kind varchar(16) not null, dedup varchar(80));
      create table ${q}torture_refused (id varchar(36) primary key, dedup varchar(80) not null)
      """;

  private static final String EFFECTS =
      "create table ${q}torture_effect (way varchar(16) not null, message varchar(36) not null)";

  /** Of one insert. */
  private static final int ROWS = 500;

  private static final String COMMIT_LATER = "torture commit later";

  private final JdbcKind kind;
  private final @Nullable String schema;
  private final HikariDataSource pool;
  private final JdbcOutboxStore store;

  JdbcPlace(JdbcKind kind, Address address, Archive archive, int size, Duration patience) {
    this.kind = kind;
    schema = address.schema();
    pool = Jdbc.pool(address.url(), address.user(), address.password(), size, patience);
    store = kind.store(pool).schema(schema).prefix(address.prefix()).archive(archive).build();
  }

  private String in(String sql) {
    return sql.replace("${q}", schema == null ? "" : schema + ".");
  }

  @Override
  public void create(int keys) {
    store.migrate();
    List<String> statements = new ArrayList<>(List.of(TABLES.split(";")));
    for (int from = 0; from < keys; from += ROWS) {
      statements.add(
          IntStream.range(from, Math.min(keys, from + ROWS))
              .mapToObj(n -> "('%s')".formatted(Place.key(n)))
              .collect(Collectors.joining(", ", "insert into ${q}torture_key (name) values ", "")));
    }
    execute(statements);
  }

  @Override
  public void createInbox() {
    inbox(null).migrate();
    execute(List.of(EFFECTS));
  }

  private void execute(List<String> statements) {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(in(sql));
      }
    } catch (SQLException e) {
      throw away(e);
    }
  }

  /** The rows of a query, a list of columns each, as text. */
  List<List<String>> rows(String sql) {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = connection.prepareStatement(in(sql));
        ResultSet rows = statement.executeQuery()) {
      List<List<String>> all = new ArrayList<>();
      while (rows.next()) {
        List<String> row = new ArrayList<>();
        for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
          row.add(String.valueOf(rows.getString(i)));
        }
        all.add(row);
      }
      return all;
    } catch (SQLException e) {
      throw away(e);
    }
  }

  @Override
  public JdbcOutboxStore store() {
    return store;
  }

  @Override
  public JdbcInboxStore inbox(@Nullable Duration retention) {
    JdbcInboxStore.Builder<?, ?> inbox = kind.inbox(pool).schema(schema);
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
  public void effect(Connection connection, Enum<?> way, UUID message) {
    update(
        connection,
        "insert into ${q}torture_effect (way, message) values (?, ?)",
        way.name(),
        message.toString());
  }

  @Override
  public List<Effect> effects() {
    return rows("select way, message from ${q}torture_effect").stream()
        .map(row -> new Effect(row.get(0), row.get(1)))
        .toList();
  }

  @Override
  public boolean canCommitLater() {
    return kind.has(COMMIT_LATER);
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

  private void update(Connection connection, String sql, @Nullable Object... parameters) {
    try (PreparedStatement update = connection.prepareStatement(in(sql))) {
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
        statement.execute(kind.sql(COMMIT_LATER));
      } catch (SQLException e) {
        throw away(e);
      }
    }

    @Override
    public int lock(String key) {
      query(kind.sql("torture lock key"), key);
      return query(kind.sql("torture read key"), key);
    }

    private int query(String sql, String parameter) {
      try (PreparedStatement select = connection.prepareStatement(in(sql))) {
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
          kind.sql("torture slow insert"),
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
          "insert into ${q}torture_work (id, name, nth, kind, dedup) values (?, ?, ?, ?, ?)",
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
          "insert into ${q}torture_refused (id, dedup) values (?, ?)",
          id.toString(),
          dedup);
    }

    @Override
    public void last(String key, int number) {
      update(connection, "update ${q}torture_key set last = ? where name = ?", number, key);
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
