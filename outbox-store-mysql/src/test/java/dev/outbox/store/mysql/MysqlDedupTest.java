package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.store.jdbc.Background;
import dev.outbox.store.jdbc.DatabaseTests;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A4 in a caller's transaction at REPEATABLE READ, MySQL's default. */
@ParameterizedClass
@EnumSource
@DisplayName("A dedup key, at REPEATABLE READ,")
class MysqlDedupTest extends DatabaseTests {
  private static final int THREADS = 8;
  private static final int KEYS = 12;

  MysqlDedupTest(Tested tested) {
    super(tested);
  }

  @BeforeEach
  void migrate() {
    store.migrate();
  }

  private Connection producer() throws SQLException {
    Connection connection = database.pool.getConnection();
    connection.setAutoCommit(false);
    connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    return connection;
  }

  private static OutboxMessage with(String dedupKey) {
    return OutboxMessage.builder()
        .aggregate("order", "1")
        .eventType("Placed")
        .payload("{}")
        .dedupKey(dedupKey)
        .build();
  }

  private String stored() {
    return database.query(
        "select group_concat(dedup_key order by dedup_key) from outbox_message where dedup_key is not null");
  }

  private static void takeSnapshot(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("select count(*) from outbox_dedup")) {
      assertThat(rows.next()).isTrue();
    }
  }

  @Test
  @DisplayName("that was committed after the caller's snapshot is a duplicate")
  void committedAfterTheSnapshot() throws SQLException {
    try (Connection late = producer()) {
      takeSnapshot(late);
      try (Connection first = producer()) {
        assertThat(store.append(first, with("a")).allStored()).isTrue();
        first.commit();
      }
      boolean snapshotsEnd = tested() == Tested.MARIADB && changedRowsEndSnapshots(late);
      if (!snapshotsEnd) {
        assertThat(store.append(late, List.of(with("a"), with("b"))).duplicates()).hasSize(1);
        assertThat(store.append(late, with("c")).allStored())
            .as("the transaction goes on")
            .isTrue();
        late.commit();
        assertThat(stored()).isEqualTo("a,b,c");
      }
    }
  }

  /** MariaDB 11.6 and newer refuse to write what changed since the snapshot (error 1020). */
  private static boolean changedRowsEndSnapshots(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery("show variables like 'innodb_snapshot_isolation'")) {
      return rows.next() && rows.getString(2).equals("ON");
    }
  }

  @Test
  @DisplayName("that is forgotten may be used again, also one purged after the caller's snapshot")
  void forgotten() throws SQLException {
    database.execute(
        "insert into outbox_dedup (dedup_key, created_at) values"
            + " ('old', utc_timestamp(6) - interval 8 day), ('older', utc_timestamp(6) - interval 9 day)");
    try (Connection producer = producer()) {
      takeSnapshot(producer);
      assertThat(store.append(producer, with("old")).allStored()).isTrue();
      assertThat(store.append(producer, with("old")).allStored()).as("again").isFalse();
      producer.commit();
      takeSnapshot(producer);
      store.housekeep();
      assertThat(store.append(producer, List.of(with("old"), with("older"))).duplicates())
          .hasSize(1);
      producer.commit();
    }
    assertThat(stored()).isEqualTo("old,older");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @DisplayName("in another open transaction is waited for, and its end decides")
  void waits(boolean committed) throws Exception {
    try (Connection first = producer();
        Connection second = producer()) {
      takeSnapshot(second);
      assertThat(store.append(first, with("a")).allStored()).isTrue();
      CompletableFuture<Boolean> late =
          CompletableFuture.supplyAsync(
              () -> store.append(second, with("a")).allStored(), Background.THREADS);
      await()
          .atMost(Duration.ofMinutes(1))
          .until(
              () ->
                  database
                      .query(
                          "select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'")
                      .equals("1"));
      if (committed) {
        first.commit();
      } else {
        first.rollback();
      }
      assertThat(late.get(1, TimeUnit.MINUTES)).as("appended").isEqualTo(!committed);
      second.commit();
    }
    assertThat(stored()).isEqualTo("a");
  }

  private interface Append {
    void to(Connection connection, List<OutboxMessage> messages, Random random);
  }

  /** Returns how many transactions had to be run again. */
  private int manyAppend(long seed, int rollbackEvery, Append append) throws Exception {
    AtomicInteger again = new AtomicInteger();
    for (int round = 0; round < 20; round++) {
      String prefix = "round %02d ".formatted(round);
      CountDownLatch start = new CountDownLatch(1);
      List<CompletableFuture<Void>> threads = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        Random random = new Random(seed + 31L * round + t);
        threads.add(
            CompletableFuture.runAsync(
                () -> appendAll(prefix, start, rollbackEvery, append, random, again),
                command -> new Thread(command).start()));
      }
      start.countDown();
      CompletableFuture.allOf(threads.toArray(CompletableFuture[]::new)).get(3, TimeUnit.MINUTES);
    }
    return again.get();
  }

  private void appendAll(
      String prefix,
      CountDownLatch start,
      int rollbackEvery,
      Append append,
      Random random,
      AtomicInteger again) {
    List<OutboxMessage> messages =
        new ArrayList<>(IntStream.range(0, KEYS).mapToObj(k -> with(prefix + k)).toList());
    Collections.shuffle(messages, random);
    try (Connection connection = producer()) {
      start.await();
      while (true) {
        try {
          append.to(connection, messages, random);
          if (random.nextInt(rollbackEvery) == 1) {
            connection.rollback();
          } else {
            connection.commit();
            return;
          }
        } catch (TransientOutboxException e) {
          connection.rollback();
          again.incrementAndGet();
        }
      }
    } catch (SQLException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void assertEachOnce() {
    assertThat(database.query("select count(*) from outbox_message"))
        .isEqualTo(database.query("select count(distinct dedup_key) from outbox_message"))
        .isEqualTo(Integer.toString(20 * KEYS));
  }

  @Test
  @DisplayName("is stored once when many append the same in different orders, one by one")
  void differentOrders() throws Exception {
    long seed = System.nanoTime();
    int again =
        manyAppend(seed, 4, (c, messages, random) -> messages.forEach(m -> store.append(c, m)));
    System.out.printf(
        "%s: %d of %d transactions that append in different orders were run again, seed %d%n",
        tested(), again, 20 * THREADS, seed);
    assertEachOnce();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  @DisplayName("is stored once when many append the same in one call, some of which roll back")
  void oneCall(int rollbackEvery) throws Exception {
    long seed = System.nanoTime();
    int again = manyAppend(seed, rollbackEvery, (c, messages, random) -> store.append(c, messages));
    System.out.printf(
        "%s: %d of %d transactions that append in one call, %s, were run again, seed %d%n",
        tested(), again, 20 * THREADS, rollbackEvery == 1 ? "and commit" : "or roll back", seed);
    assertEachOnce();
  }
}
