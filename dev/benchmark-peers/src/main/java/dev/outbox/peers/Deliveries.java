package dev.outbox.peers;

import static java.lang.Double.parseDouble;
import static java.lang.Integer.parseInt;

import dev.outbox.dev.database.Jdbc;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Stands for a broker of several processes: a table with a row for each delivery, in their order,
 * beside the rows of the business, which say what was committed. Safe for use by many threads.
 */
final class Deliveries implements AutoCloseable {
  private static final String TABLE =
      """
      create table if not exists delivered (
        id      bigint generated always as identity primary key,
        key     text not null,
        number  int not null,
        at      timestamptz not null default clock_timestamp()
      )
      """;

  private final Schema.Pool broker;

  /**
   * Makes the table, where it is not there yet.
   *
   * @param broker with connections of its own, so that a delivery is there whatever becomes of the
   *     outbox's transaction
   */
  Deliveries(Schema.Pool broker) throws SQLException {
    this.broker = broker;
    try (Connection connection = broker.dataSource().getConnection()) {
      Jdbc.execute(connection, TABLE);
    }
  }

  void add(OrderPlaced message) {
    try (Connection connection = broker.dataSource().getConnection()) {
      Jdbc.update(
          connection,
          "insert into delivered (key, number) values (?, ?)",
          message.key(),
          message.number());
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * A message that was committed, or a delivery.
   *
   * @param at in seconds, by one clock for all
   */
  record Seen(String key, int number, double at) {
    private String id() {
      return key + "/" + number;
    }
  }

  private List<Seen> read(String sql) throws SQLException {
    try (Connection connection = broker.dataSource().getConnection()) {
      return Jdbc.rows(connection, sql).stream()
          .map(row -> new Seen(row.get(0), parseInt(row.get(1)), parseDouble(row.get(2))))
          .toList();
    }
  }

  Outcome outcome() throws SQLException {
    return Outcome.of(
        read("select customer, amount, extract(epoch from placed_at) from business order by id"),
        read("select key, number, extract(epoch from at) from delivered order by id"));
  }

  @Override
  public void close() {
    broker.close();
  }

  /**
   * What became of the messages that were committed.
   *
   * @param outOfOrder messages whose first delivery came after that of a later one of their key
   * @param twice deliveries of messages that had been delivered
   * @param longest until the first delivery, in seconds, of those that were delivered
   */
  record Outcome(int committed, int delivered, int outOfOrder, int twice, double longest) {

    /**
     * @param deliveries in their order
     */
    static Outcome of(List<Seen> committed, List<Seen> deliveries) {
      Map<String, Double> times = new HashMap<>();
      committed.forEach(message -> times.put(message.id(), message.at));
      Set<String> delivered = new HashSet<>();
      Map<String, Integer> highest = new HashMap<>();
      int outOfOrder = 0;
      double longest = 0;
      for (Seen delivery : deliveries) {
        if (!delivered.add(delivery.id())) {
          continue;
        }
        if (highest.merge(delivery.key, delivery.number, Math::max) > delivery.number) {
          outOfOrder++;
        }
        longest = Math.max(longest, delivery.at - times.getOrDefault(delivery.id(), delivery.at));
      }
      return new Outcome(
          times.size(),
          delivered.size(),
          outOfOrder,
          deliveries.size() - delivered.size(),
          longest);
    }

    boolean isWhole() {
      return delivered >= committed;
    }
  }
}
