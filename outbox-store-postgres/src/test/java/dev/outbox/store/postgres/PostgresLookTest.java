package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.store.jdbc.Intercepted;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The log is brought to the disk at the moment when the look asks again whether it is there. */
@DisplayName("A look beside a producer that has written something more")
class PostgresLookTest extends DatabaseTest {
  private Keeper keeper;
  private Connection producer;
  private Connection asked;
  private boolean flushes = true;
  private boolean asksAnother;
  private int questions;
  private int transactions;
  private boolean isOnDisk;
  private int snapshots;

  /** Looks that were not sent together with the settings that they are planned with. */
  private int bareLooks;

  private record Cost(int questions, int transactions) {}

  @BeforeEach
  void keep() throws SQLException {
    database.execute("create table other (i int)");
    producer = database.pool.getConnection();
    producer.setAutoCommit(false);
    asked = database.pool.getConnection();
    asked.setAutoCommit(true);
    keeper =
        keeperOfAll(
            PostgresOutboxStore.of(Intercepted.of(database.pool, this::call)),
            database,
            Duration.ofMinutes(5));
  }

  @AfterEach
  void close() throws SQLException {
    keeper.close();
    producer.close();
    asked.close();
  }

  private Object call(Object target, Method method, Object[] arguments) throws Exception {
    if (method.getName().equals("commit")) {
      transactions++;
    }
    if (method.getName().equals("prepareStatement")) {
      String sql = (String) arguments[0];
      snapshots += sql.contains("pg_snapshot_xip") ? 1 : 0;
      bareLooks += sql.contains("w.written") && !sql.contains("enable_seqscan") ? 1 : 0;
    }
    boolean asks = arguments != null && PostgresLook.IS_FLUSHED.equals(arguments[0]);
    if (asks) {
      questions++;
      if (flushes) {
        producer.commit();
      }
    }
    return method.invoke(asks && asksAnother ? asked : target, arguments);
  }

  private Claim claim() {
    return claimOne(keeper, request());
  }

  private void deliver(Claim claim) {
    Map<Long, Decision> delivered =
        Map.of(claim.messages().get(0).sequence(), Decision.delivered());
    assertThat(keeper.settleAndClaim(claim, delivered, request()).lost()).isEmpty();
  }

  /** The server also writes its log to the disk by itself: what is not meant is tried again. */
  private Cost cost(Predicate<Cost> isMeant) {
    return await()
        .atMost(Duration.ofMinutes(1))
        .until(
            () -> {
              append("a");
              deliver(claim()); // what it finds is durable, so the next look asks
              append("a");
              write();
              String written = ask("select pg_current_wal_insert_lsn()");
              questions = 0;
              transactions = 0;
              Claim claim = claim();
              Cost cost = new Cost(questions, transactions);
              isOnDisk = ask("select pg_current_wal_flush_lsn() >= '" + written + "'").equals("t");
              producer.commit();
              deliver(claim);
              return cost;
            },
            isMeant);
  }

  private String ask(String sql) throws SQLException {
    try (Statement statement = asked.createStatement();
        ResultSet answer = statement.executeQuery(sql)) {
      answer.next();
      return answer.getString(1);
    }
  }

  private void write() throws SQLException {
    try (Statement statement = producer.createStatement()) {
      statement.execute("insert into other values (1)");
    }
  }

  @Test
  @DisplayName("hands out what it found as soon as the disk has the log, and writes nothing")
  void flushed() {
    assertThat(cost(cost -> cost.questions > 0)).isEqualTo(new Cost(1, 0));
  }

  @Test
  @DisplayName("waits for the disk itself when it takes too long")
  void notFlushed() {
    flushes = false;
    assertThat(cost(cost -> cost.transactions > 0)).isEqualTo(new Cost(3, 1));
    assertThat(isOnDisk).isTrue();
  }

  @Test
  @DisplayName(
      "waits for it without a new version of the bucket's row, which vacuum may not remove")
  void locks() {
    flushes = false;
    await() // meanwhile the holder may prolong its leases
        .atMost(Duration.ofMinutes(1))
        .until(
            () -> {
              String rows = "select string_agg(ctid::text, ' ' order by bucket) from outbox_bucket";
              String before = ask(rows);
              assertThat(cost(cost -> cost.transactions > 0)).isEqualTo(new Cost(3, 1));
              return ask(rows).equals(before);
            });
  }

  @Test
  @DisplayName("does not believe another process of the server, which may have failed meanwhile")
  void anotherProcess() {
    asksAnother = true;
    assertThat(cost(cost -> cost.questions > 0)).isEqualTo(new Cost(3, 1));
  }

  @Test
  @DisplayName(
      "has its settings, also while it is asked again and again which transactions are open")
  void asksWhatIsOpen() throws SQLException {
    write();
    flushes = false;
    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              append("a");
              deliver(claim());
              return snapshots > 1;
            });
    assertThat(bareLooks).isZero();
  }
}
