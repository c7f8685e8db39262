package dev.outbox.cli.demo;

import dev.outbox.Outbox;
import dev.outbox.OutboxMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.sql.DataSource;

/**
 * A service as anybody may write it: it changes an order and says so, or does neither. The order's
 * row is locked before the append, so that the messages of one order are appended one transaction
 * after the other; that is what makes their order mean something (O5).
 */
final class OrderService {
  /** Of one insert. */
  private static final int ROWS = 500;

  private final DataSource dataSource;
  private final Outbox<Connection> outbox;
  private final String change;
  private final String version;

  /**
   * @param table of the orders: id, version, amount
   */
  OrderService(DataSource dataSource, Outbox<Connection> outbox, String table) {
    this.dataSource = dataSource;
    this.outbox = outbox;
    change =
        "update %s set version = version + 1, amount = amount + ? where id = ?".formatted(table);
    version = "select version from %s where id = ?".formatted(table);
  }

  /** Makes the table, with so many orders in it. */
  static void createOrders(Connection connection, String table, int orders) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(
          "create table %s (id varchar(64) not null primary key, version bigint not null, amount bigint not null)"
              .formatted(table));
      for (int from = 0; from < orders; from += ROWS) {
        statement.execute(
            IntStream.range(from, Math.min(orders, from + ROWS))
                .mapToObj("('order-%d', 0, 0)"::formatted)
                .collect(Collectors.joining(", ", "insert into " + table + " values ", "")));
      }
    }
  }

  /** The customer cannot pay: nothing has happened. */
  static final class CardDeclined extends Exception {
    private static final long serialVersionUID = 1L;

    CardDeclined(String order) {
      super("the card for " + order + " was declined");
    }
  }

  /**
   * Adds something to an order.
   *
   * @param card whether the customer can pay
   * @param messages what to tell others about the order's new version
   */
  void add(String order, int amount, boolean card, LongFunction<List<OutboxMessage>> messages)
      throws SQLException, CardDeclined {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      try {
        long version = lockAndAdd(connection, order, amount);
        var duplicates = outbox.append(connection, messages.apply(version));
        if (!card) {
          throw new CardDeclined(order);
        }
        connection.commit();
      } catch (Throwable e) {
        connection.rollback();
        throw e;
      }
    }
  }

  /** Returns the new version, which is nobody else's to change before the commit. */
  private long lockAndAdd(Connection connection, String order, int amount) throws SQLException {
    try (PreparedStatement update = connection.prepareStatement(change);
        PreparedStatement select = connection.prepareStatement(version)) {
      update.setInt(1, amount);
      update.setString(2, order);
      if (update.executeUpdate() != 1) {
        throw new SQLException("there is no order " + order);
      }
      select.setString(1, order);
      try (ResultSet row = select.executeQuery()) {
        row.next();
        return row.getLong(1);
      }
    }
  }
}
