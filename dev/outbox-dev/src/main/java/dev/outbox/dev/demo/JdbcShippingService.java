package dev.outbox.dev.demo;

import dev.outbox.dev.Jdbc;
import dev.outbox.inbox.InboxKey;
import dev.outbox.store.jdbc.JdbcInboxStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/** With plain JDBC. The table of shipments has no key, so that it takes the same twice. */
public final class JdbcShippingService implements ShippingService {
  private static final String CONSUMER = "shipping";

  private final DataSource dataSource;
  private final JdbcInboxStore inbox;
  private final String shipments;
  private final String repetitions;

  /**
   * @param qualified gives a table's name with its schema
   */
  public JdbcShippingService(
      DataSource dataSource, JdbcInboxStore inbox, UnaryOperator<String> qualified) {
    this.dataSource = dataSource;
    this.inbox = inbox;
    shipments = qualified.apply("demo_shipment");
    repetitions = qualified.apply("demo_repetition");
  }

  @Override
  public void create() throws SQLException {
    inbox.migrate();
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      for (String table : List.of(shipments, repetitions)) {
        statement.execute("create table " + table + " (message varchar(36) not null)");
      }
    }
  }

  @Override
  public void ship(List<UUID> messages) throws SQLException {
    boolean ignored =
        Jdbc.transaction(
            dataSource,
            connection -> {
              ship(connection, messages);
              return true;
            });
  }

  private void ship(Connection connection, List<UUID> messages) throws SQLException {
    List<UUID> repeated = new ArrayList<>();
    List<UUID> shipped = new ArrayList<>();
    for (UUID message : messages) {
      boolean first = inbox.firstTime(connection, new InboxKey(CONSUMER, message.toString()));
      (first ? shipped : repeated).add(message);
    }
    insert(connection, shipments, shipped);
    insert(connection, repetitions, repeated);
  }

  private static void insert(Connection connection, String table, List<UUID> messages)
      throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("insert into " + table + " values (?)")) {
      for (UUID message : messages) {
        insert.setString(1, message.toString());
        insert.addBatch();
      }
      int[] ignored = insert.executeBatch();
    }
  }

  @Override
  public Shipped shipped() throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      return new Shipped(read(connection, shipments), read(connection, repetitions).size());
    }
  }

  private static List<UUID> read(Connection connection, String table) throws SQLException {
    List<UUID> messages = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("select message from " + table)) {
      while (rows.next()) {
        messages.add(UUID.fromString(rows.getString(1)));
      }
    }
    return messages;
  }
}
