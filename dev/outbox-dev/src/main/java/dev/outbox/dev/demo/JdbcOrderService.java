package dev.outbox.dev.demo;

import dev.outbox.Outbox;
import dev.outbox.OutboxMessage;
import dev.outbox.dev.Jdbc;
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

/** With plain JDBC; the update locks the order's row until the commit. */
public final class JdbcOrderService implements OrderService {
  /** Of one insert. */
  private static final int ROWS = 500;

  private final DataSource dataSource;
  private final Outbox<Connection> outbox;
  private final String table;

  /**
   * @param table of the orders: id, version, amount
   */
  public JdbcOrderService(DataSource dataSource, Outbox<Connection> outbox, String table) {
    this.dataSource = dataSource;
    this.outbox = outbox;
    this.table = table;
  }

  @Override
  public void create(int orders) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
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

  @Override
  public void add(
      String order, int amount, boolean card, LongFunction<List<OutboxMessage>> messages)
      throws SQLException, CardDeclined {
    boolean paid =
        Jdbc.transaction(
            dataSource,
            connection -> {
              long version = lockAndAdd(connection, order, amount);
              var duplicates = outbox.append(connection, messages.apply(version));
              return card;
            });
    if (!paid) {
      throw new CardDeclined(order);
    }
  }

  /** Returns the new version, which is nobody else's to change before the commit. */
  private long lockAndAdd(Connection connection, String order, int amount) throws SQLException {
    String change =
        "update " + table + " set version = version + 1, amount = amount + ? where id = ?";
    String version = "select version from " + table + " where id = ?";
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
