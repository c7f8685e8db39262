package dev.outbox.store.jdbc.internal;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.jdbi.v3.core.ConnectionFactory;

/** Knows how long its users wait for a connection. Safe for use by many threads. */
final class AwaitedConnections implements ConnectionFactory {
  private final DataSource dataSource;
  private final LongSupplier clock;
  private final Map<Thread, Long> since = new ConcurrentHashMap<>();

  AwaitedConnections(DataSource dataSource, LongSupplier clock) {
    this.dataSource = dataSource;
    this.clock = clock;
  }

  @Override
  public Connection openConnection() throws SQLException {
    since.put(Thread.currentThread(), clock.getAsLong());
    try {
      return dataSource.getConnection();
    } finally {
      since.remove(Thread.currentThread());
    }
  }

  /** Of those who wait now the longest; zero where nobody does. */
  Duration longest() {
    long now = clock.getAsLong();
    return Duration.ofNanos(
        since.values().stream().mapToLong(begun -> now - begun).max().orElse(0));
  }
}
