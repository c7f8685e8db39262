package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.TransientOutboxException;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.InboxKey;
import dev.outbox.store.jdbc.Background;
import dev.outbox.store.jdbc.DatabaseTests;
import dev.outbox.store.jdbc.JdbcInboxStore;
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

/** I1 and I2 in a caller's transaction at REPEATABLE READ, MySQL's default. */
@ParameterizedClass
@EnumSource
@DisplayName("A message of an inbox, at REPEATABLE READ,")
class MysqlRecordTest extends DatabaseTests {
  private static final int THREADS = 6;
  private static final int KEYS = 10;
  private static final int ROUNDS = 10;
  private static final InboxKey KEY = key("m");

  private JdbcInboxStore inbox;

  MysqlRecordTest(Tested tested) {
    super(tested);
  }

  @BeforeEach
  void migrate() {
    inbox = tested().inbox(database.pool).build();
    inbox.migrate();
  }

  private static InboxKey key(String messageId) {
    return new InboxKey("shipping", messageId);
  }

  private Connection consumer() throws SQLException {
    Connection connection = database.pool.getConnection();
    connection.setAutoCommit(false);
    connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    return connection;
  }

  private static void takeSnapshot(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("select count(*) from inbox_message")) {
      assertThat(rows.next()).isTrue();
    }
  }

  @Test
  @DisplayName("is one statement the first time, and two when it comes again")
  void statements() throws SQLException {
    inbox.verify();
    try (Connection connection = consumer()) {
      long before = statements(connection);
      assertThat(inbox.firstTime(connection, KEY)).isTrue();
      long between = statements(connection);
      assertThat(inbox.firstTime(connection, KEY)).isFalse();
      long after = statements(connection);
      assertThat(between - before - 1).as("statements of a first time").isEqualTo(1);
      assertThat(after - between - 1).as("statements of a repetition").isEqualTo(2);
      connection.rollback();
    }
  }

  /** So many of this session, this one included. */
  private static long statements(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("show session status like 'Questions'")) {
      rows.next();
      return rows.getLong(2);
    }
  }

  @Test
  @DisplayName("that was recorded after the caller's snapshot is a repetition")
  void recordedAfterTheSnapshot() throws SQLException {
    try (Connection late = consumer()) {
      takeSnapshot(late);
      database.inTransaction(false, c -> assertThat(inbox.firstTime(c, KEY)).isTrue());
      boolean first;
      try {
        first = inbox.firstTime(late, KEY);
      } catch (TransientOutboxException e) {
        late.rollback(); // MariaDB 11.6 and newer say: run it again
        first = inbox.firstTime(late, KEY);
      }
      assertThat(first).isFalse();
      assertThat(inbox.firstTime(late, key("other"))).as("the transaction goes on").isTrue();
      late.commit();
    }
    database.inTransaction(false, c -> assertThat(inbox.firstTime(c, key("other"))).isFalse());
  }

  @Test
  @DisplayName("whose lock ran out after the caller's snapshot is taken over")
  void ranOutAfterTheSnapshot() throws SQLException {
    try (Connection late = consumer()) {
      Begin<Connection> begin = inbox.begin(KEY, Duration.ofMinutes(1));
      Lock<Connection> lock = ((Begin.Started<Connection>) begin).lock();
      takeSnapshot(late);
      assertThat(lock.release("refused")).isTrue();
      try {
        assertThat(inbox.firstTime(late, KEY)).isTrue();
      } catch (TransientOutboxException e) {
        late.rollback();
        assertThat(inbox.firstTime(late, KEY)).isTrue();
      }
      late.commit();
      assertThat(inbox.begin(KEY, Duration.ofMinutes(1))).isInstanceOf(Begin.Done.class);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @DisplayName("in another open transaction is waited for, and its end decides")
  void waits(boolean committed) throws Exception {
    try (Connection first = consumer();
        Connection second = consumer()) {
      takeSnapshot(second);
      assertThat(inbox.firstTime(first, KEY)).isTrue();
      CompletableFuture<Boolean> late =
          CompletableFuture.supplyAsync(() -> inbox.firstTime(second, KEY), Background.THREADS);
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
      assertThat(late.get(1, TimeUnit.MINUTES)).as("first").isEqualTo(!committed);
      second.commit();
    }
  }

  @Test
  @DisplayName("is recorded once when many record the same in different orders, some roll back")
  void differentOrders() throws Exception {
    long seed = System.nanoTime();
    AtomicInteger again = new AtomicInteger();
    AtomicInteger recorded = new AtomicInteger();
    for (int round = 0; round < ROUNDS; round++) {
      String prefix = "round %02d ".formatted(round);
      CountDownLatch start = new CountDownLatch(1);
      List<CompletableFuture<Void>> threads = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        Random random = new Random(seed + 31L * round + t);
        threads.add(
            CompletableFuture.runAsync(
                () -> recordAll(prefix, start, random, recorded, again), Background.THREADS));
      }
      start.countDown();
      CompletableFuture.allOf(threads.toArray(CompletableFuture[]::new)).get(3, TimeUnit.MINUTES);
    }
    System.out.printf(
        "%s: %d of %d transactions that record in different orders were run again, seed %d%n",
        tested(), again.get(), ROUNDS * THREADS, seed);
    assertThat(recorded).as("first times that were committed").hasValue(ROUNDS * KEYS);
  }

  private void recordAll(
      String prefix,
      CountDownLatch start,
      Random random,
      AtomicInteger recorded,
      AtomicInteger again) {
    List<InboxKey> keys =
        new ArrayList<>(IntStream.range(0, KEYS).mapToObj(k -> key(prefix + k)).toList());
    Collections.shuffle(keys, random);
    try (Connection connection = consumer()) {
      start.await();
      while (true) {
        try {
          int first = 0;
          for (InboxKey key : keys) {
            first += inbox.firstTime(connection, key) ? 1 : 0;
          }
          if (random.nextInt(4) == 1) {
            connection.rollback();
          } else {
            connection.commit();
            recorded.addAndGet(first);
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
}
