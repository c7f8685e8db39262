package dev.outbox.peers;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.OutboxException;
import dev.outbox.cli.Address;
import dev.outbox.dev.bench.StatementWatch;
import dev.outbox.dev.database.Jdbc;
import dev.outbox.dev.database.JdbcPlace;
import dev.outbox.dev.database.Place;
import dev.outbox.dev.database.StoreKind;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import javax.sql.DataSource;

/** A schema for one contender in one run; it goes at the end, with all that is in it. */
final class Schema implements AutoCloseable {
  private static final String BEGIN =
      "outbox_bench_" + UUID.randomUUID().toString().substring(0, 8) + "_";
  private static final AtomicInteger COUNT = new AtomicInteger();

  private final Address address;
  private final String name = BEGIN + COUNT.incrementAndGet() + "_";
  private final JdbcPlace admin;

  Schema(Address address) {
    this.address = address;
    admin = (JdbcPlace) StoreKind.at(address);
    admin.createSchema(name);
    admin.execute(App.BUSINESS_TABLE.formatted(name));
  }

  String name() {
    return name;
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
    Address own =
        new Address(address.url(), address.user(), address.password(), name, address.prefix());
    HikariConfig config = Jdbc.config(StoreKind.POSTGRES, own, "pool", connections);
    config.setJdbcUrl(config.getJdbcUrl() + "&currentSchema=" + name);
    LongAdder counter = new LongAdder();
    HikariDataSource pool = new HikariDataSource(config);
    return new Pool(pool, StatementWatch.watch(pool, counter), counter);
  }

  record Pool(HikariDataSource pool, DataSource dataSource, LongAdder counter)
      implements AutoCloseable {
    @Override
    public void close() {
      pool.close();
    }
  }

  /** What the database would do in the background after a fill. */
  void tidy() {
    admin.execute("vacuum (analyze)");
    try {
      admin.execute("checkpoint");
    } catch (OutboxException e) {
      // The user's own server may not allow it; then it makes one when it likes to.
    }
  }

  @Override
  public void close() {
    try (admin) {
      admin.removeSchemas(name);
    }
  }

  /** Removes all that this process made, also while a run is under way, as after Ctrl-C. */
  static void removeAll(Address address) {
    try (Place<?> database = StoreKind.at(address)) {
      database.removeSchemas(BEGIN);
    }
  }
}
