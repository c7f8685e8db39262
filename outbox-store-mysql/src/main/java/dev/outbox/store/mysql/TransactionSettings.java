package dev.outbox.store.mysql;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/**
 * Sets each transaction of ours up in one round trip, and puts back in another what would outlive
 * it: the connection may be the application's.
 *
 * <ul>
 *   <li>READ COMMITTED, for this transaction alone: the reads of a claim must see what was
 *       committed before its lease, and at REPEATABLE READ gaps are locked, in the way of
 *       producers' inserts.
 *   <li>A client that stops inside a transaction would hold its bucket rows for {@code
 *       wait_timeout}, eight hours by default, and others would skip them as long. When it owes a
 *       statement, {@code wait_timeout} ends it; when it stops while a large result is on its way,
 *       {@code net_write_timeout}.
 *   <li>UTC, for the clock that {@code sysdate()} reads.
 * </ul>
 */
final class TransactionSettings {
  private static final String BEGIN =
      "set @outbox_idle = @@session.wait_timeout, @outbox_write = @@session.net_write_timeout,"
          + " @outbox_zone = @@session.time_zone,"
          + " @@session.wait_timeout = %1$d, @@session.net_write_timeout = %1$d,"
          + " @@session.time_zone = '+00:00',"
          + " @@%2$s = 'READ-COMMITTED', @@%3$s = 0";

  private static final String END =
      "set @@session.wait_timeout = @outbox_idle, @@session.net_write_timeout = @outbox_write,"
          + " @@session.time_zone = @outbox_zone";

  private final Flavor flavor;

  TransactionSettings(Flavor flavor) {
    this.flavor = flavor;
  }

  void begin(Connection connection, Duration patience) throws SQLException {
    long seconds =
        Math.min(Integer.MAX_VALUE / 1000, Math.max(1, patience.plusMillis(999).toSeconds()));
    execute(connection, BEGIN.formatted(seconds, flavor.isolation, flavor.readOnly));
  }

  void end(Connection connection) throws SQLException {
    execute(connection, END);
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
