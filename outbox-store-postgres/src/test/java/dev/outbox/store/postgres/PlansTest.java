package dev.outbox.store.postgres;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Page;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.InspectionStore.WaitingKey;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.store.jdbc.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** C5: the planner keeps to the partial indexes, whatever its statistics say. */
@DisplayName("The plans of a claim")
class PlansTest extends DatabaseTest {
  private static final int BATCH = 100;

  /** Of a claim and its settling: about 20 pages for the bucket rows, then a few a message. */
  private static final long MOST_PAGES = 4_000;

  private Reads reads;

  @Override
  protected void configure(HikariConfig config) {
    config.setMaximumPoolSize(1);
  }

  @BeforeEach
  void prepare() {
    reads = new Reads(database);
    // The tests say when the planner learns something.
    database.execute("alter table outbox_message set (autovacuum_enabled = false)");
  }

  private Claim claim() {
    return store.claim(new Claim.Request("test", BATCH, 10_000_000, Duration.ofMinutes(5)));
  }

  private void claimAndRelease() {
    Claim claim = claim();
    assertThat(claim.messages()).isNotEmpty();
    claim.settle(Map.of());
  }

  private void claimAndDeliver() {
    Claim claim = claim();
    assertThat(claim.messages()).isNotEmpty();
    claim.settle(delivered(claim));
  }

  private static Map<Long, Decision> delivered(Claim claim) {
    return all(claim, Decision.delivered());
  }

  private void assertFewPages(String when) {
    for (int i = 0; i < 3; i++) {
      assertThat(reads.pagesDuring(this::claimAndDeliver))
          .as("pages of a claim, %s", when)
          .isLessThan(MOST_PAGES);
    }
  }

  @Test
  @DisplayName("that were cached while the table was empty do not scan a long one")
  void cachedWhileEmpty() {
    database.execute("analyze outbox_message");
    insert(1, 1, "PENDING", "null");
    for (int i = 0; i < 12; i++) { // more often than the planner tries before it caches a plan
      claimAndRelease();
    }
    insert(40_000, 1_000, "PENDING", "null");
    assertFewPages("with plans from an empty table");
    insert(40_000, 1_000, "SCHEDULED", "now() - interval '1 second'");
    assertFewPages("with plans from an empty table and due messages");
  }

  @Test
  @DisplayName("do not scan when one bucket has nearly all messages, after ANALYZE")
  void skewed() {
    insert(40_000, 1, "PENDING", "null");
    insert(1_000, 200, "PENDING", "null");
    database.execute("analyze outbox_message");
    assertFewPages("with one large bucket");
    insert(20_000, 50, "SCHEDULED", "now() + interval '1 day'");
    insert(20_000, 50, "DEAD", "null");
    database.execute("analyze outbox_message");
    assertFewPages("with one large bucket, delayed messages and dead letters");
  }

  @Test
  @DisplayName("do not scan the followers of a blocked key")
  void blockedKey() {
    insert(50_000, 1, "BLOCKED", "null");
    database.execute(
        "insert into outbox_blocked_key (bucket, key, retry_at, low_seq)"
            + " select bucket, 'order/' || aggregate_id, now() + interval '1 day', min(seq) from outbox_message group by 1, 2");
    insert(10_000, 1_000, "PENDING", "null");
    database.execute("analyze outbox_message");
    assertFewPages("beside a blocked key");
    database.execute("update outbox_blocked_key set retry_at = now()");
    assertFewPages("with a blocked key that is due");
  }

  @Test
  @DisplayName("do not scan when they look at what was kept while the table was empty")
  void kept() {
    Claim.Request request = new Claim.Request("test", BATCH, 10_000_000, Duration.ofMinutes(5));
    TestDatabase holder = database.withOneConnection();
    Keeper keeper =
        keeperOfAll(
            PostgresOutboxStore.of(heldApart(database.pool, holder.pool)),
            database,
            Duration.ofDays(1));
    for (int i = 0; i < 12; i++) {
      insert(1, 1, "PENDING", "null");
      Claim claim = keeper.claim(request);
      assertThat(claim.messages()).hasSize(1);
      keeper.settleAndClaim(claim, delivered(claim), request).next().settle(Map.of());
    }
    insert(40_000, 1_000, "PENDING", "null");
    for (int i = 0; i < 4; i++) {
      assertThat(reads.pagesDuring(() -> keeper.claim(request).settle(Map.of())))
          .as("pages of a look and a claim, round %d", i)
          .isLessThan(MOST_PAGES);
      database.execute("analyze outbox_message", "analyze outbox_bucket");
    }
    Claim.Request single = new Claim.Request("test", 1, 10_000_000, Duration.ofMinutes(5));
    for (int i = 0; i < 12; i++) {
      Claim claim = keeper.claim(single);
      assertThat(claim.messages()).hasSize(1);
      claim.settle(delivered(claim));
    }
    assertThat(
            database.query(
                "select coalesce(sum(custom_plans), -1) from pg_prepared_statements"
                    + " where statement like '%deleted as (%'"))
        .as("settles that were planned anew")
        .isEqualTo("0");
    keeper.close();
    holder.pool.close();
  }

  @Test
  @DisplayName("of statistics do not read what was delivered and is not vacuumed yet")
  void afterDeliveries() {
    insert(20_000, 5_000, "PENDING", "null");
    Claim.Request large = new Claim.Request("test", 1_000, 100_000_000, Duration.ofMinutes(5));
    for (Claim claim = store.claim(large);
        !claim.messages().isEmpty();
        claim = store.claim(large)) {
      assertThat(claim.settle(delivered(claim))).isEmpty();
    }
    insert(10, 10, "PENDING", "null");
    assertReadsFew(2_000, () -> store.statistics(10_000));
    assertThat(store.statistics(10_000).pending()).isEqualTo(10);
  }

  @Test
  @DisplayName("do not scan all messages when somebody looks, wherever it lies, after ANALYZE")
  void looking() {
    insert(60_000, 1_000, "PENDING", "null");
    insert(60_000, 1_000, "DEAD", "null");
    insert(60_000, 1, "BLOCKED", "null");
    insert(1_000, 1, "SCHEDULED", "now() + interval '1 day'");
    database.execute(
        "insert into outbox_blocked_key (bucket, key, retry_at, low_seq, halted_by)"
            + " select distinct on (bucket, aggregate_id) bucket, 'order/' || aggregate_id,"
            + " now() + interval '1 day', 0, case when status = 'DEAD' then seq end"
            + " from outbox_message where status <> 'PENDING' order by bucket, aggregate_id, seq desc");
    database.execute("analyze outbox_message", "analyze outbox_blocked_key");
    assertReadsFew(100, () -> store.messages(Query.first(50)));
    assertReadsFew(500, () -> store.messages(of(Status.DEAD, null, null))); // each may halt its key
    assertReadsFew(MOST_READ_PAGES, () -> store.messages(of(Status.BLOCKED, "order/key 0", null)));
    for (Status status : Status.values()) {
      for (String key : new String[] {null, "order/key 7", "order/none"}) {
        assertReadsFew(MOST_READ_PAGES, () -> store.messages(of(status, key, "none")));
      }
    }
    for (Query none :
        List.of(
            new Query(null, "none", null, null, null, null, null, null, null, 50),
            new Query(null, null, null, "none", null, null, null, null, null, 50),
            new Query(null, null, null, null, UUID.randomUUID(), null, null, null, null, 50),
            new Query(null, null, null, null, null, "none", null, null, null, 50))) {
      assertReadsFew(MOST_READ_PAGES, () -> store.messages(none));
    }
    for (boolean halted : List.of(false, true)) {
      Page<WaitingKey> page = store.waitingKeys(halted, null, 10);
      assertThat(page.next()).isNotNull();
      assertReadsFew(1_500, () -> store.waitingKeys(halted, page.next(), 10));
      assertReadsFew(200, () -> store.message(page.found().get(0).behind()));
    }
  }

  /** A few index entries a page, and of messages each: those are of one size and few to a page. */
  private static final long MOST_READ_PAGES = 3 * InspectionStore.MOST_READ / 10;

  private static Query of(Status status, String key, String error) {
    return new Query(status, null, key, null, null, null, error, null, null, 50);
  }

  private void assertReadsFew(long pages, Supplier<?> look) {
    assertThat(reads.pagesDuring(() -> assertThat(look.get()).isNotNull()))
        .as("pages of a look")
        .isLessThan(pages);
  }
}
