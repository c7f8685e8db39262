package dev.outbox.dev.torture;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Archive;
import dev.outbox.dev.BrokerKind;
import dev.outbox.embedded.ParentJvm;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/**
 * What producers, relays and consumers have in common: the parent's settings and commands, a
 * journal, and a pool that can be exhausted.
 */
final class Child implements AutoCloseable {
  static final String STARTED = "started";
  static final String PAUSE = "pause";
  static final String PAUSED = "paused";
  static final String GO_ON = "go-on";
  static final String END = "end";

  /** "exhaust 1500": somebody in the process takes all connections for so many milliseconds. */
  static final String EXHAUST = "exhaust";

  /** Of a pool: so long a client waits for a connection. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final ParentJvm parent;
  private final Journal journal;
  private final Dialect dialect;

  private Child(ParentJvm parent) {
    this.parent = parent;
    dialect = Dialect.valueOf(parent.get("dialect"));
    journal = Journal.open(directory(), name());
  }

  static Child connect() throws IOException {
    System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
    System.setProperty("org.slf4j.simpleLogger.showDateTime", "true");
    return new Child(ParentJvm.connect());
  }

  String name() {
    return parent.get("name");
  }

  Path directory() {
    return Path.of(parent.get("directory"));
  }

  long seed() {
    return Long.parseLong(parent.get("seed"));
  }

  String get(String setting) {
    return parent.get(setting);
  }

  Journal journal() {
    return journal;
  }

  Dialect dialect() {
    return dialect;
  }

  JdbcOutboxStore store(DataSource pool) {
    return dialect.store(pool, Archive.valueOf(get("archive")));
  }

  /** As this process reaches it. */
  Broker broker() {
    return Broker.of(BrokerKind.valueOf(get("broker")), get("broker-address"));
  }

  void say(String line) {
    parent.say(line);
  }

  String command() throws InterruptedException {
    return parent.command();
  }

  /** Opens connections when it needs them, so that it may begin while the database is away. */
  HikariDataSource pool(int size) {
    HikariConfig hikari = new HikariConfig();
    hikari.setJdbcUrl(get("url"));
    hikari.setUsername(get("user"));
    hikari.setPassword(get("password"));
    hikari.setMaximumPoolSize(size);
    hikari.setMinimumIdle(0);
    hikari.setConnectionTimeout(PATIENCE.toMillis());
    hikari.setInitializationFailTimeout(-1);
    // Else the pool asks for the default, once; when that connection dies it never works again.
    hikari.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
    return new HikariDataSource(hikari);
  }

  /** Begins to take all connections of a pool, on a thread of its own. */
  static void exhaust(HikariDataSource pool, long millis) {
    Thread thread = new Thread(() -> hold(pool, millis), "exhaust");
    thread.setDaemon(true);
    thread.start();
  }

  private static void hold(HikariDataSource pool, long millis) {
    List<Connection> taken = new ArrayList<>();
    long until = System.nanoTime() + Duration.ofMillis(millis).toNanos();
    try {
      while (until - System.nanoTime() > 0) {
        if (taken.size() < pool.getMaximumPoolSize()) {
          try {
            taken.add(pool.getConnection());
          } catch (SQLException e) {
            // others have them all, or the database is away: once more
          }
        } else {
          Thread.sleep(10);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      taken.forEach(Child::close);
    }
  }

  /** However it ends. */
  static void close(Connection connection) {
    try {
      connection.close();
    } catch (SQLException e) {
      // as good as closed
    }
  }

  @Override
  public void close() {
    journal.close();
  }
}
