package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

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
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What comes once, in callers' transactions at REPEATABLE READ, MySQL's default. */
abstract class RepeatableReadTests extends DatabaseTests {
  private static final int ROUNDS = 8;
  private static final int THREADS = 8;
  private static final int NAMES = 12;

  private final String table;

  RepeatableReadTests(Tested tested, String table) {
    super(tested);
    this.table = table;
  }

  /** Whether the name comes for the first time. */
  abstract boolean isFirst(Connection transaction, String name);

  final Connection begin() throws SQLException {
    Connection connection = database.pool.getConnection();
    connection.setAutoCommit(false);
    connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    return connection;
  }

  final void takeSnapshot(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("select count(*) from " + table)) {
      assertThat(rows.next()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @DisplayName("in another open transaction is waited for, and its end decides")
  void waits(boolean committed) throws Exception {
    try (Connection first = begin();
        Connection second = begin()) {
      takeSnapshot(second);
      assertThat(isFirst(first, "a")).isTrue();
      CompletableFuture<Boolean> late =
          CompletableFuture.supplyAsync(() -> isFirst(second, "a"), Background.THREADS);
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
      if (committed && changedRowsEndSnapshots()) {
        assertRunAgain(() -> late.get(1, TimeUnit.MINUTES));
      } else {
        assertThat(late.get(1, TimeUnit.MINUTES)).as("first").isEqualTo(!committed);
        second.commit();
      }
    }
  }

  /** MariaDB 11.6 and newer refuse to write what changed since the snapshot (error 1020). */
  final boolean changedRowsEndSnapshots() {
    return database.query(
            "show variables where variable_name = 'innodb_snapshot_isolation' and value = 'ON'")
        != null;
  }

  static void assertRunAgain(ThrowingCallable taking) {
    assertThatThrownBy(taking)
        .satisfiesAnyOf(
            e -> assertThat(e).isInstanceOf(TransientOutboxException.class),
            e -> assertThat(e).hasCauseInstanceOf(TransientOutboxException.class))
        .hasMessageContaining("run it again");
  }

  @Test
  @DisplayName("comes once when many have the same in different orders, some of which roll back")
  void differentOrders() throws Exception {
    assertEachOnce(
        4,
        (transaction, names) ->
            (int) names.stream().filter(name -> isFirst(transaction, name)).count());
  }

  /** Says how many of the names come for the first time. */
  interface Taking {
    int from(Connection transaction, List<String> names);
  }

  /**
   * @param rollbackEvery one of so many transactions is rolled back, at random; of one none
   */
  final void assertEachOnce(int rollbackEvery, Taking taking) throws Exception {
    long seed = System.nanoTime();
    AtomicInteger again = new AtomicInteger();
    AtomicInteger taken = new AtomicInteger();
    for (int round = 0; round < ROUNDS; round++) {
      String prefix = "round %02d ".formatted(round);
      CountDownLatch start = new CountDownLatch(1);
      List<CompletableFuture<Void>> threads = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        Random random = new Random(seed + 31L * round + t);
        threads.add(
            CompletableFuture.runAsync(
                () -> takeAll(prefix, start, rollbackEvery, taking, random, again, taken),
                command -> new Thread(command).start()));
      }
      start.countDown();
      CompletableFuture.allOf(threads.toArray(CompletableFuture[]::new)).get(3, TimeUnit.MINUTES);
    }
    System.out.printf(
        "%s, %s: %d of %d transactions were run again, seed %d%n",
        tested(), table, again.get(), ROUNDS * THREADS, seed);
    assertThat(taken).as("first times that were committed").hasValue(ROUNDS * NAMES);
  }

  private void takeAll(
      String prefix,
      CountDownLatch start,
      int rollbackEvery,
      Taking taking,
      Random random,
      AtomicInteger again,
      AtomicInteger taken) {
    List<String> names =
        new ArrayList<>(IntStream.range(0, NAMES).mapToObj(i -> prefix + i).toList());
    Collections.shuffle(names, random);
    try (Connection transaction = begin()) {
      start.await();
      while (true) {
        try {
          int first = taking.from(transaction, names);
          if (random.nextInt(rollbackEvery) == 1) {
            transaction.rollback();
          } else {
            transaction.commit();
            taken.addAndGet(first);
            return;
          }
        } catch (TransientOutboxException e) {
          transaction.rollback();
          again.incrementAndGet();
        }
      }
    } catch (SQLException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
