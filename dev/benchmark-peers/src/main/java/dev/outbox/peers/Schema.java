package dev.outbox.peers;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.cli.Address;
import dev.outbox.dev.bench.StatementWatch;
import dev.outbox.dev.bench.WorkCounter;
import dev.outbox.dev.database.JdbcKind;
import dev.outbox.dev.database.StoreKind;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** A schema for one contender in one run; it goes at the end, with all that is in it. */
final class Schema implements AutoCloseable {
  private static final String BEGIN =
      "outbox_bench_" + UUID.randomUUID().toString().substring(0, 8) + "_";
  private static final AtomicInteger COUNT = new AtomicInteger();

  private final Address address;
  private final String name = BEGIN + COUNT.incrementAndGet() + "_";
  private final Connection admin;

  Schema(Address address) throws SQLException {
    this.address = address;
    admin = connect(address);
    StoreKind.of(address.url()).jdbc().createSchema(admin, name);
    execute("set search_path to " + name);
    execute(SpringApp.BUSINESS_TABLE);
  }

  String name() {
    return name;
  }

  static Connection connect(Address address) throws SQLException {
    return DriverManager.getConnection(
        address.url(),
        address.user().isEmpty() ? null : address.user(),
        address.password().isEmpty() ? null : address.password());
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = admin.createStatement()) {
      statement.execute(sql);
    }
  }

  /**
   * A pool whose statements are counted, for all contenders alike; its connections see this schema
   * first.
   */
  Pool pool(int connections) {
    return pool(address, name, connections);
  }

  /** The same in a process that has not made the schema. */
  static Pool pool(Address address, String name, int connections) {
    HikariConfig config = new HikariConfig();
    JdbcKind kind = StoreKind.of(address.url()).jdbc();
    config.setJdbcUrl(kind.named(address.url(), name + "_pool") + "&currentSchema=" + name);
    config.setUsername(address.user().isEmpty() ? null : address.user());
    config.setPassword(address.password().isEmpty() ? null : address.password());
    config.setMaximumPoolSize(connections);
    WorkCounter counter = new WorkCounter();
    HikariDataSource pool = new HikariDataSource(config);
    return new Pool(pool, StatementWatch.watch(pool, counter), counter);
  }

  record Pool(HikariDataSource pool, DataSource dataSource, WorkCounter counter)
      implements AutoCloseable {
    @Override
    public void close() {
      pool.close();
    }
  }

  /** What the database would do in the background after a fill. */
  void tidy() throws SQLException {
    execute("vacuum (analyze)");
    try {
      execute("checkpoint");
    } catch (SQLException e) {
      // The user's own server may not allow it; then it makes one when it likes to.
    }
  }

  @Override
  public void close() throws SQLException {
    try (admin) {
      remove(address, name);
    }
  }

  /** Removes all that this process made, also while a run is under way, as after Ctrl-C. */
  static void removeAll(Address address) throws SQLException {
    remove(address, BEGIN);
  }

  private static void remove(Address address, String begin) throws SQLException {
    try (Connection connection = connect(address)) {
      StoreKind.of(address.url()).jdbc().removeSchemas(connection, begin);
    }
  }
}
