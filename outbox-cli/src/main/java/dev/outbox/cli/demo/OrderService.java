package dev.outbox.cli.demo;

import dev.outbox.Outbox;
import dev.outbox.OutboxMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.function.LongFunction;
import javax.sql.DataSource;

/**
 * A service as anybody may write it: it changes an order and says so, or does neither. The order's
 * row is locked before the append, so that the messages of one order are appended one transaction
 * after the other; that is what makes their order mean something (O5).
 */
final class OrderService {
  private final DataSource dataSource;
  private final Outbox<Connection> outbox;
  private final String change;

  /**
   * @param table of the orders: id, version, amount
   */
  OrderService(DataSource dataSource, Outbox<Connection> outbox, String table) {
    this.dataSource = dataSource;
    this.outbox = outbox;
    change =
        "update %s set version = version + 1, amount = amount + ? where id = ? returning version"
            .formatted(table);
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

  private long lockAndAdd(Connection connection, String order, int amount) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(change)) {
      statement.setInt(1, amount);
      statement.setString(2, order);
      try (ResultSet row = statement.executeQuery()) {
        if (!row.next()) {
          throw new SQLException("there is no order " + order);
        }
        return row.getLong(1);
      }
    }
  }
}
