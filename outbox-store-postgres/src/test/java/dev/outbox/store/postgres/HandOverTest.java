package dev.outbox.store.postgres;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.Appended;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.spi.store.KeepingStore.Uncommitted.Committed;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.jdbc.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A message is handed over")
class HandOverTest extends DatabaseTest {
  private static final Duration LONG = Duration.ofMinutes(5);

  private PostgresOutboxStore handing;
  private Keeper keeper;

  @BeforeEach
  void keep() {
    handing = PostgresOutboxStore.of(database.pool);
    keeper = keeperOfAll(handing, database, LONG);
  }

  @AfterEach
  void close() {
    keeper.close();
  }

  protected static OutboxMessage message(String key) {
    return OutboxMessage.builder()
        .aggregate("order", key)
        .eventType("changed")
        .payload("{\"ä\": 1}")
        .header("x", "y")
        .header("x", "z")
        .correlationId("c")
        .build();
  }

  /** After the commit, which nobody has told of. */
  private Uncommitted appended(OutboxMessage... messages) {
    return appended("select 1", messages);
  }

  private Uncommitted appended(String before, OutboxMessage... messages) {
    return appended(database, before, messages);
  }

  private Uncommitted appended(TestDatabase by, String before, OutboxMessage... messages) {
    AtomicReference<Uncommitted> uncommitted = new AtomicReference<>();
    by.inTransaction(
        false,
        c -> {
          TestDatabase.execute(c, before);
          uncommitted.set(handing.append(keeper, c, List.of(messages)));
        });
    return uncommitted.get();
  }

  private static void settle(Claim claim, Decision decision) {
    assertThat(claim.settle(all(claim, decision))).isEmpty();
  }

  private Claim claim() {
    return await()
        .atMost(PATIENCE)
        .pollDelay(Duration.ZERO)
        .until(() -> keeper.claim(request()), found -> !found.messages().isEmpty());
  }

  private void handOver(OutboxMessage... messages) {
    handOver(database, messages);
  }

  private void handOver(TestDatabase by, OutboxMessage... messages) {
    while (appended(by, "select 1", messages).committed() != Committed.HANDED_OVER) {
      assertThat(goOn(claim()).messages()).isEmpty();
    }
  }

  private Claim goOn(Claim claim) {
    Map<Long, Decision> decisions = all(claim, Decision.delivered());
    return keeper.settleAndClaim(claim, decisions, request()).next();
  }

  private String messages() {
    return database.query("select count(*) from outbox_message");
  }

  /** That nothing is read is in {@link RoundTripsTest}. */
  @Test
  @DisplayName("and claimed as it would be read, and settled")
  void withoutReading() {
    OutboxMessage message = message("a");
    handOver(message);
    Claim claim = claim();
    assertThat(claim.messages()).singleElement().satisfies(m -> same(m, message));
    assertThat(claim.messages().get(0).createdAt().toString())
        .isEqualTo(
            database.query(
                "select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') from outbox_message"));
    assertThat(goOn(claim).messages()).isEmpty();
    assertThat(messages()).isEqualTo("0");
  }

  private static void same(StoredMessage claimed, OutboxMessage message) {
    assertThat(claimed.message()).isEqualTo(message);
    assertThat(claimed.key()).isEqualTo(message.key());
    assertThat(claimed.attempts()).isZero();
  }

  @Test
  @DisplayName("but not one that a savepoint may undo, or whose commit waits for no disk")
  void flags() {
    for (String before :
        List.of(
            "savepoint s",
            "set local synchronous_commit = off",
            "set transaction isolation level repeatable read")) {
      assertThat(appended(before, message("a")).committed())
          .describedAs(before)
          .isNotEqualTo(Committed.HANDED_OVER);
      Claim claim = claim();
      assertThat(claim.messages()).hasSize(1);
      assertThat(goOn(claim).messages()).isEmpty();
    }
    handOver(message("a"));
  }

  @Test
  @DisplayName("but not where a statement has failed, and the commit rolls back and says nothing")
  void failed() throws SQLException {
    try (Connection connection = database.pool.getConnection()) {
      connection.setAutoCommit(false);
      Appended ignored = handing.append(connection, List.of(message("a")));
      assertThat(handing.canCommit(connection)).isTrue();
      assertThatThrownBy(() -> TestDatabase.execute(connection, "select 1 / 0")).isNotNull();
      assertThat(handing.canCommit(connection)).isFalse();
      connection.commit();
    }
    assertThat(messages()).isEqualTo("0");
  }

  @Test
  @DisplayName(
      "but not when the lease is another than at its append; one that was lost unknown repeats, and settles nothing")
  void anotherLease() {
    Uncommitted slow = appended(message("a"));
    database.execute("update outbox_bucket set lease_until = now() where claim_id is not null");
    Claim others = store.claim(request());
    assertThat(others.messages()).hasSize(1);
    assertThat(slow.committed())
        .isEqualTo(Committed.HANDED_OVER); // that the lease was lost is not known here
    Claim late = keeper.claim(request());
    settle(others, Decision.delivered());
    Set<Long> repeated =
        late.messages().stream().map(StoredMessage::sequence).collect(Collectors.toSet());
    assertThat(
            late.settle(
                repeated.stream().collect(Collectors.toMap(s -> s, s -> Decision.delivered()))))
        .isEqualTo(repeated);
    assertThat(appended(message("a")).committed()).isEqualTo(Committed.UNKNOWN);
  }

  /** Producers lock a row of their key first (O5); each second commits, some are rolled back. */
  @Test
  @DisplayName(
      "by an append that reads neither what was delivered nor tables that have become long, beside an old snapshot")
  void readsLittle() throws SQLException {
    database.execute(
        "alter table outbox_message set (autovacuum_enabled = false)",
        "vacuum analyze outbox_message"); // now the server knows that it is empty
    TestDatabase one = database.withOneConnection();
    Reads reads = new Reads(one);
    try (Connection old = database.pool.getConnection()) {
      old.setAutoCommit(false);
      old.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      TestDatabase.execute(old, "select 1 from outbox_message");
      for (int i = 0; i < 20; i++) { // the server has its plan from here on
        handOver(one, message("a"));
        settle(claim(), Decision.delivered());
      }
      database.execute(
          """
          insert into outbox_message (aggregate_type, aggregate_id, event_type, payload, status, available_at)
          select 'order', n::text, 'e', '{}', 'SCHEDULED', now() + interval '1 day'
          from generate_series(1, 20000) n
          """,
          """
          insert into outbox_message (aggregate_type, aggregate_id, event_type, payload)
          select 'order', 'a', 'e', '{}' from generate_series(1, 2000) n
          """);
      while (!messages().equals("20000")) {
        settle(claim(), Decision.delivered());
      }
      List<Long> pages = new ArrayList<>();
      while (pages.size() < 3) {
        AtomicReference<Uncommitted> last = new AtomicReference<>();
        long read = reads.pagesDuring(() -> last.set(appended(one, "select 1", message("a"))));
        if (last.get().committed() == Committed.HANDED_OVER) {
          pages.add(read);
        }
        settle(claim(), Decision.delivered());
      }
      old.rollback();
      assertThat(pages).allMatch(read -> read < 60);
    } finally {
      one.pool.close();
    }
  }

  @Test
  @DisplayName("by an append that leaves the settings of the transaction as they are")
  void settings() {
    TestDatabase one = database.withOneConnection();
    for (String session : List.of("off", "on")) {
      for (String local : List.of("off", "on")) {
        one.execute("set enable_seqscan = " + session);
        leaves(one, "set local enable_seqscan = " + local, local, session);
        leaves(one, "select 1", session, session);
        leaves(one, "set enable_seqscan = " + local, local, local);
      }
    }
    one.pool.close();
  }

  /** Until an append is handed over: one that asks nothing changes no setting. */
  private void leaves(TestDatabase by, String before, String during, String after) {
    AtomicReference<Uncommitted> last = new AtomicReference<>();
    boolean handed;
    do {
      by.inTransaction(
          false,
          c -> {
            TestDatabase.execute(c, before);
            last.set(handing.append(keeper, c, List.of(message("a"), message("a"))));
            assertThat(show(c)).describedAs("after %s", before).isEqualTo(during);
          });
      assertThat(by.query("show enable_seqscan")).describedAs("after %s", before).isEqualTo(after);
      handed = last.get().committed() == Committed.HANDED_OVER;
      settle(claim(), Decision.delivered());
    } while (!handed);
  }

  private static String show(Connection connection) {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("show enable_seqscan")) {
      assertThat(rows.next()).isTrue();
      return rows.getString(1);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
