package dev.outbox.store.postgres.torture;

import dev.outbox.OutboxMessage;
import dev.outbox.store.postgres.PostgresOutboxStore;
import dev.outbox.store.postgres.torture.Work.Kind;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;

/**
 * Business transactions that lock their keys before they append, as O5 asks for. Some stand still
 * inside an insert, with a sequence drawn, and some before they commit, while others go on: the
 * low-water marks must wait for them. So the lock is one that draws no transaction id.
 */
final class Producer implements Runnable {
  private static final int LONGEST_STALL = 400;

  private final DataSource dataSource;
  private final PostgresOutboxStore store;
  private final Random random;
  private final int keys;
  private final BooleanSupplier goesOn;
  private final List<String> dedupKeys = new ArrayList<>();
  private final String name = UUID.randomUUID().toString();

  final List<Work> committed = new ArrayList<>();
  final Set<UUID> rolledBack = new HashSet<>();
  final Set<UUID> duplicates = new HashSet<>();

  Producer(
      DataSource dataSource,
      PostgresOutboxStore store,
      long seed,
      int keys,
      BooleanSupplier goesOn) {
    this.dataSource = dataSource;
    this.store = store;
    this.random = new Random(seed);
    this.keys = keys;
    this.goesOn = goesOn;
  }

  @Override
  public void run() {
    while (goesOn.getAsBoolean()) {
      try (Connection connection = dataSource.getConnection()) {
        connection.setAutoCommit(false);
        transaction(connection);
        Thread.sleep(random.nextInt(40));
      } catch (SQLException | InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private void transaction(Connection connection) throws SQLException, InterruptedException {
    Map<String, Integer> last = new TreeMap<>();
    for (int i = random.nextInt(2); i >= 0; i--) {
      last.put("key-" + random.nextInt(random.nextBoolean() ? keys : 5), 0);
    }
    for (Map.Entry<String, Integer> key : last.entrySet()) {
      key.setValue(lock(connection, key.getKey()));
    }
    List<Work> stored = new ArrayList<>();
    Set<UUID> again = new HashSet<>();
    List<String> dedup = new ArrayList<>();
    for (int i = random.nextInt(3); i >= 0; i--) {
      List<Work> some = new ArrayList<>();
      for (Map.Entry<String, Integer> key : last.entrySet()) {
        key.setValue(key.getValue() + 1);
        some.add(new Work(UUID.randomUUID(), key.getKey(), key.getValue(), kind()));
      }
      Set<UUID> refused = append(connection, some, dedup);
      again.addAll(refused);
      some.stream().filter(w -> !refused.contains(w.id())).forEach(stored::add);
    }
    for (Map.Entry<String, Integer> key : last.entrySet()) {
      unlock(connection, key.getKey(), key.getValue());
    }
    // Sequences are drawn, and others commit first.
    Thread.sleep(random.nextInt(random.nextInt(20) == 0 ? LONGEST_STALL : 4));
    if (random.nextInt(12) == 0) {
      connection.rollback();
      stored.forEach(work -> rolledBack.add(work.id()));
    } else {
      connection.commit();
      committed.addAll(stored);
      duplicates.addAll(again);
      dedupKeys.addAll(dedup);
    }
  }

  private Kind kind() {
    int dice = random.nextInt(1_000);
    return dice < 50
        ? Kind.DELAYED
        : dice < 56 ? Kind.DOOMED : dice < 62 ? Kind.POISON : dice < 68 ? Kind.HALTING : Kind.PLAIN;
  }

  private Set<UUID> append(Connection connection, List<Work> some, List<String> dedup)
      throws SQLException {
    if (random.nextInt(10) == 0) {
      for (Work work : some) {
        plainSql(connection, work);
      }
      return Set.of();
    }
    return store.append(connection, some.stream().map(work -> message(work, dedup)).toList());
  }

  private OutboxMessage message(Work work, List<String> dedup) {
    OutboxMessage.Builder message = work.message();
    if (work.kind() == Kind.DELAYED) {
      message.deliverAfter(Duration.ofMillis(random.nextInt((int) Work.LONGEST_DELAY.toMillis())));
    }
    int dice = random.nextInt(20);
    if (dice == 0 && !dedupKeys.isEmpty()) {
      message.dedupKey(dedupKeys.get(random.nextInt(dedupKeys.size())));
    } else if (dice < 3) {
      dedup.add(name + " " + work.id());
      message.dedupKey(dedup.get(dedup.size() - 1));
    }
    return message.build();
  }

  private void plainSql(Connection connection, Work work) throws SQLException {
    OutboxMessage message = work.message().build();
    try (PreparedStatement insert =
        connection.prepareStatement(
            """
            insert into outbox_message (id, aggregate_type, aggregate_id, event_type, payload, available_at, status)
            values (?, ?, ?, ?, ?, now() + ? * interval '1 millisecond',
              'PENDING' || pg_sleep(? / 1000.0)::text)
            """)) {
      insert.setObject(1, message.id());
      insert.setString(2, message.aggregateType());
      insert.setString(3, message.aggregateId());
      insert.setString(4, message.eventType());
      insert.setBytes(5, message.payload());
      insert.setObject(6, work.kind() == Kind.DELAYED ? 500 : null, java.sql.Types.INTEGER);
      insert.setInt(7, random.nextInt(3) == 0 ? random.nextInt(LONGEST_STALL) : 0);
      insert.executeUpdate();
    }
  }

  private static int lock(Connection connection, String key) throws SQLException {
    try (PreparedStatement lock =
        connection.prepareStatement("select pg_advisory_xact_lock(hashtextextended(?, 0))")) {
      lock.setString(1, key);
      lock.execute();
    }
    try (PreparedStatement select =
        connection.prepareStatement("select last from torture_key where key = ?")) {
      select.setString(1, key);
      try (ResultSet rows = select.executeQuery()) {
        rows.next();
        return rows.getInt(1);
      }
    }
  }

  private static void unlock(Connection connection, String key, int last) throws SQLException {
    try (PreparedStatement update =
        connection.prepareStatement("update torture_key set last = ? where key = ?")) {
      update.setInt(1, last);
      update.setString(2, key);
      update.executeUpdate();
    }
  }
}
