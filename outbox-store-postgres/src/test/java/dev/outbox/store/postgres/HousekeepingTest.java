package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.store.jdbc.Background;
import dev.outbox.store.jdbc.HousekeepingTests;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Housekeeping")
class HousekeepingTest extends HousekeepingTests {
  HousekeepingTest() {
    super(new Postgres());
  }

  private static final String MARKS = "select count(*) from outbox_bucket where low_water > 0";

  @Test
  @DisplayName("forgets the mark of one bucket each time, and so all of them in the end")
  void forgetsMarks() {
    database.execute("update outbox_bucket set low_water = 1");
    store.housekeep();
    assertThat(database.query(MARKS)).as("after the first").isEqualTo("63");
    store.housekeep();
    assertThat(database.query(MARKS)).as("after the second").isEqualTo("62");
    for (int i = 2; i < 64; i++) {
      store.housekeep();
    }
    assertThat(database.query(MARKS)).as("after 64").isEqualTo("0");
  }

  @Test
  @DisplayName("forgets also the mark that the holder of a lease remembers")
  void forgetsTheHoldersMark() {
    append(message());
    database.execute(
        """
        update outbox_bucket set low_water = 1, low_water_history = pg_relation_filenode(
          pg_get_serial_sequence('outbox_message', 'seq')::regclass)
          || ' ' || extract(epoch from pg_postmaster_start_time())
        """);
    Claim held = store.claim(request());
    assertThat(held.messages()).hasSize(1);
    for (int i = 0; i < 64; i++) {
      store.housekeep();
    }
    assertThat(held.settle(Map.of())).isEmpty();
    assertThat(database.query(MARKS)).as("stored by the holder").isEqualTo("1");
    assertThat(store.claim(request()).messages()).hasSize(1);
    assertThat(database.query(MARKS)).as("after the next lease").isEqualTo("0");
  }

  @Test
  @DisplayName("holds no bucket while it looks for blocked keys, of which there may be many")
  void holdsNoBucket() {
    Hooks hooks = new Hooks();
    hooks.beforeRestore =
        () -> database.execute("select from outbox_bucket for no key update nowait");
    append(message());
    database.execute("update outbox_message set status = 'BLOCKED'");
    new VariantStore(database.pool, hooks.of(VariantStore.right())).housekeep();
    assertThat(hooks.beforeRestore).as("it was looked").isSameAs(new Hooks().beforeRestore);
  }

  /** As after a restore, or at the end of a logical replication. */
  private void messagesBeyondTheSequence() {
    database.execute(
        """
        insert into outbox_message (seq, aggregate_type, aggregate_id, event_type, payload)
          overriding system value values (900, 'order', 'a', 'e', ''), (1000, 'order', 'b', 'e', '');
        update outbox_bucket set low_water = 950
        """);
  }

  private String lastValue() {
    return database.query(
        "select pg_sequence_last_value(pg_get_serial_sequence('outbox_message', 'seq')::regclass)");
  }

  @Test
  @DisplayName("sets a sequence that lags behind the messages, and forgets the marks")
  void sequenceLags() {
    messagesBeyondTheSequence();
    store.housekeep();
    assertThat(lastValue()).isEqualTo("1000");
    assertThat(database.query(MARKS)).isEqualTo("0");
    assertThat(store.claim(request()).messages()).hasSize(2);
  }

  @Test
  @DisplayName("leaves a sequence and marks alone that do not lag")
  void sequenceDoesNotLag() {
    append(message(), message());
    database.execute("update outbox_bucket set low_water = 1");
    store.housekeep();
    assertThat(lastValue()).isEqualTo("2");
    assertThat(database.query(MARKS)).isEqualTo("63");
  }

  @Test
  @DisplayName("does not follow a message whose sequence leaves no room for others")
  void noRoom() {
    append(message());
    database.execute(
        """
        insert into outbox_message (seq, aggregate_type, aggregate_id, event_type, payload)
          overriding system value values (9223372036854775807, 'order', 'a', 'e', '')
        """);
    store.housekeep();
    append(message());
    assertThat(lastValue()).isEqualTo("2");
    assertThat(store.claim(request()).messages()).hasSize(3);
  }

  @Test
  @DisplayName("sets it once when two relays start at once, and never back")
  void twoStoresAtOnce() throws Exception {
    messagesBeyondTheSequence();
    PostgresOutboxStore other = PostgresOutboxStore.of(database.pool);
    String sequence = "pg_get_serial_sequence('outbox_message', 'seq')::regclass::oid";
    String waiting =
        "select count(*) from pg_locks where not granted and locktype = 'advisory' and objid = "
            + sequence;
    try (Connection bucket = database.pool.getConnection();
        Statement lockBucket = bucket.createStatement();
        Connection gate = database.pool.getConnection();
        Statement lock = gate.createStatement()) {
      bucket.setAutoCommit(false);
      lockBucket.execute("select from outbox_bucket where bucket = 63 for update");
      lock.execute("select pg_advisory_lock(%s::bigint)".formatted(sequence));
      CompletableFuture<Void> both =
          CompletableFuture.allOf(
              CompletableFuture.runAsync(store::housekeep, Background.THREADS),
              CompletableFuture.runAsync(other::housekeep, Background.THREADS));
      // Both have seen that it lags; then one sets it, and stands still before it commits.
      await().atMost(Duration.ofMinutes(1)).until(() -> database.query(waiting).equals("2"));
      lock.execute("select pg_advisory_unlock(%s::bigint)".formatted(sequence));
      await().atMost(Duration.ofMinutes(1)).until(() -> "1000".equals(lastValue()));
      append(message(), message());
      bucket.rollback();
      both.get(60, TimeUnit.SECONDS);
    }
    assertThat(lastValue()).isEqualTo("1002");
    assertThat(database.query(MARKS)).isEqualTo("0");
    assertThat(store.claim(request()).messages()).hasSize(4);
  }

  private int pages() {
    return Integer.parseInt(
        database.query(
            "select pg_relation_size('outbox_bucket') / current_setting('block_size')::int"));
  }

  /** Leases and releases buckets beside an open snapshot, as relays do in some minutes. */
  private void makeBucketsLong() throws SQLException {
    database.execute("alter table outbox_bucket set (autovacuum_enabled = false)");
    try (Connection open = database.pool.getConnection();
        Statement snapshot = open.createStatement()) {
      snapshot.execute("begin isolation level repeatable read; select 1");
      while (pages() < 300) {
        database.execute("update outbox_bucket set worker = 'relay'");
      }
      store.housekeep();
      assertThat(pages()).as("beside the transaction").isBetween(300, 400);
      snapshot.execute("rollback");
    }
  }

  /** Transactions of other tests keep vacuum from its work, too. */
  private void untilShort() {
    await()
        .atMost(Duration.ofMinutes(1))
        .until(
            () -> {
              database.execute("vacuum outbox_bucket");
              store.housekeep();
              database.execute("vacuum outbox_bucket");
              return pages() < 20;
            });
  }

  private static final String ROWS =
      "select string_agg(b::text, ' ' order by bucket) from outbox_bucket b";

  @Test
  @DisplayName("moves buckets to the front of a table that a transaction made long, and says so")
  void movesBuckets() throws SQLException {
    append(message());
    Claim held = store.claim(request());
    assertThat(held.messages()).hasSize(1);
    makeBucketsLong();
    assertThat(Findings.wrong(store))
        .anyMatch(
            said ->
                said.matches(
                    "table \\S*outbox_bucket has \\d+ pages for its 64 rows, .* front, .*"));
    // A vacuum alone changes nothing: the rows are at the end.
    database.execute("vacuum outbox_bucket");
    assertThat(pages()).as("after a vacuum").isGreaterThan(250);
    database.execute("update outbox_bucket set low_water = 0, low_water_history = ''");
    String rows = database.query(ROWS);
    untilShort();
    assertThat(database.query(ROWS)).as("the rows").isEqualTo(rows);
    assertThat(Findings.wrong(store)).noneMatch(said -> said.contains("outbox_bucket"));
    long sequence = held.messages().get(0).sequence();
    assertThat(held.settle(Map.of(sequence, Decision.delivered()))).as("lost").isEmpty();
  }

  @Test
  @DisplayName("waits for nobody to move them, and does the rest of its work")
  void movesNoBucketThatIsInUse() throws SQLException {
    makeBucketsLong();
    database.execute("vacuum outbox_bucket");
    try (Connection relay = database.pool.getConnection();
        Statement lease = relay.createStatement()) {
      lease.execute("begin; select from outbox_bucket where bucket = 5 for update");
      remember("old", 1, 8);
      store.housekeep();
      assertThat(database.query("select count(*) from outbox_dedup")).isEqualTo("0");
      lease.execute("rollback");
    }
    database.execute("vacuum outbox_bucket");
    assertThat(pages()).as("while a relay was at it").isGreaterThan(250);
    untilShort();
  }
}
