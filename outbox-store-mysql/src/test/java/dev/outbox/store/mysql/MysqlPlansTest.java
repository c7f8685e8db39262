package dev.outbox.store.mysql;

import static dev.outbox.store.mysql.Database.byMysqlsDriver;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.InspectionStore.Page;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.InspectionStore.WaitingKey;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.store.jdbc.HoldingTests;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.mysql.Explained.Plan;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** C5: the optimizer keeps to the indexes that are named, whatever its statistics say. */
@ParameterizedClass
@EnumSource
@DisplayName("The plans")
class MysqlPlansTest extends HoldingTests {
  private static final int BATCH = 100;

  /** Tables by the names that the statements give them. */
  private static final Map<String, String> TABLES =
      Map.of(
          "m", "message",
          "outbox_message", "message",
          "k", "blocked_key",
          "outbox_blocked_key", "blocked_key",
          "b", "bucket",
          "outbox_bucket", "bucket",
          "d", "dedup",
          "outbox_dedup", "dedup");

  /** Begins of parts of statements that may scan or sort, each with the reason. */
  private static final Map<String, String> MAY =
      Map.of(
          "m.last_error, m.last_failed_at",
          "dead letters lie by bucket and are wanted by sequence: those found are sorted",
          "as blocked_millis",
          "statistics sort the blocked keys that they counted by their lowest sequences",
          "k.halted_by is not null and not exists",
          "housekeeping looks at every blocked key, once an interval");

  private final Explained explained = new Explained();
  private JdbcOutboxStore watched;

  MysqlPlansTest(Tested tested) {
    super(tested);
  }

  @Override
  protected void configure(HikariConfig config) {
    byMysqlsDriver(config); // its statements tell their text
    config.setMaximumPoolSize(1);
  }

  @BeforeEach
  void prepare() {
    watched = builder(explained.of(database.pool)).build();
    // The tests say when the optimizer learns something.
    for (String table : List.of("message", "blocked_key", "bucket", "dedup")) {
      database.execute("alter table outbox_" + table + " stats_auto_recalc = 0");
    }
    analyze();
  }

  private void analyze() {
    database.query("analyze table outbox_message, outbox_blocked_key, outbox_bucket, outbox_dedup");
  }

  /** Messages of {@code keys} keys, all of one status. */
  private void insert(int messages, int keys, String status, String availableAt) {
    String digits =
        "(select 0 d union all select 1 union all select 2 union all select 3 union all select 4"
            + " union all select 5 union all select 6 union all select 7 union all select 8 union all select 9)";
    database.execute(
        """
        insert into outbox_message (aggregate_type, aggregate_id, event_type, payload, status, available_at)
        select 'order', concat('key ', n %% %1$d), 'Placed', '{}', '%2$s', %3$s from (
          select a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d as n
          from %5$s a, %5$s b, %5$s c, %5$s e, %5$s f) numbers
        where n < %4$d order by n
        """
            .formatted(keys, status, availableAt, messages, digits));
  }

  /** Nearly all messages in one bucket, behind a blocked key or not; some of every kind. */
  private void skewed() {
    insert(40_000, 1, "PENDING", "null");
    insert(1_000, 200, "PENDING", "null");
    insert(5_000, 50, "SCHEDULED", "utc_timestamp(6) + interval 1 day");
    insert(1_000, 50, "SCHEDULED", "utc_timestamp(6) - interval 1 day");
    insert(5_000, 50, "DEAD", "null");
    database.execute(
        "update outbox_message set status = 'BLOCKED', place = default"
            + " where status = 'PENDING' and aggregate_id in ('key 7', 'key 8', 'key 10')",
        "insert into outbox_blocked_key (bucket, `key`, retry_at, low_seq)"
            + " select bucket, concat('order/', aggregate_id), utc_timestamp(6), min(seq) from outbox_message"
            + " where status = 'BLOCKED' group by 1, 2",
        // Met in front of all others: such are moved by the first claim.
        "update outbox_message set available_at = utc_timestamp(6) + interval 1 day"
            + " where status = 'PENDING' and aggregate_id = 'key 9'",
        "insert into outbox_dedup (dedup_key, created_at)"
            + " select concat('old ', seq), utc_timestamp(6) - interval 8 day from outbox_message limit 5000");
  }

  private static Claim.Request all(long bytes) {
    return new Claim.Request("test", BATCH, bytes, Duration.ofMinutes(5));
  }

  /** Runs every statement that a relay and an operator have. */
  private void everything() {
    Decision again = Decision.retry(Duration.ZERO, "again");
    Decision[] mixed = {
      Decision.delivered(), again, Decision.dead("no"), Decision.deadHaltingKey("no")
    };
    for (int i = 0; i < 3; i++) {
      // So many bytes that the first claim reads all buckets: later ones have so many blocked keys
      // that there is room for the head of each alone.
      Claim claim = watched.claim(all(100_000_000));
      assertThat(claim.messages()).isNotEmpty();
      assertThat(claim.renew(Duration.ofMinutes(6))).isNotEmpty();
      assertThat(claim.settle(inTurn(claim, mixed))).isEmpty();
    }
    for (int i = 0; i < 8; i++) {
      Claim claim = watched.claim(all(150)); // so few bytes that sizes are asked for
      Claim next =
          watched
              .settleAndClaim(claim, inTurn(claim, Decision.delivered()), all(10_000_000))
              .next();
      assertThat(next.settle(inTurn(next, Decision.delivered()))).isEmpty();
    }
    database.execute(
        "update outbox_bucket set claim_id = uuid(), takeovers = 2, leased_at = utc_timestamp(6) - interval 2 minute,"
            + " lease_until = utc_timestamp(6) - interval 1 minute");
    Claim singly = watched.claim(all(10_000_000));
    assertThat(singly.messages()).isNotEmpty();
    assertThat(singly.settle(Map.of())).isEmpty();
    List<Long> dead =
        watched.deadLetters(0, 1_000).stream().map(d -> d.message().sequence()).toList();
    assertThat(dead).hasSizeGreaterThan(100);
    for (long sequence : dead.subList(dead.size() - 30, dead.size() - 15)) {
      assertThat(watched.requeue(sequence)).isTrue();
    }
    for (long sequence : dead.subList(dead.size() - 15, dead.size())) {
      assertThat(watched.discard(sequence)).isTrue();
    }
    long undue =
        Long.parseLong(
            database.query(
                "select max(seq) - 14 from outbox_message"
                    + " where status = 'SCHEDULED' and available_at > utc_timestamp(6)"));
    assertThat(watched.cancel(LongStream.range(undue, undue + 15).boxed().collect(toSet()), null))
        .hasSize(15);
    watched.statistics(10_000);
    look();
    watched.housekeep();
  }

  /** Every statement that looks at messages and keys. */
  private void look() {
    assertThat(watched.messages(Query.first(10)).found()).hasSize(10);
    for (Status status : Status.values()) {
      for (String key : new String[] {null, "order/key 7"}) {
        Query query =
            new Query(status, "order", key, "Placed", null, "d", "o", Instant.now(), null, 10);
        assertThat(watched.messages(query).found()).allMatch(m -> m.status() == status);
      }
    }
    for (boolean halted : List.of(false, true)) {
      Page<WaitingKey> page = watched.waitingKeys(halted, null, 2);
      assertThat(page.found()).isNotEmpty();
      assertThat(page.found())
          .allSatisfy(key -> assertThat(watched.message(key.behind())).isPresent());
      watched.waitingKeys(halted, page.next(), 2);
    }
  }

  /** Where in each statement that runs often is its name's place. */
  private static final List<String> MUST_HAVE_RUN =
      List.of(
          "as has_work",
          "for update skip locked",
          "b.claim_id = '",
          "as left_millis",
          "b.claim_id = null",
          "as horizon",
          "and m.place <= cast",
          "as size\n",
          "as failed",
          "m.place = convert('order/key 7' using binary) and m.seq >=",
          "set m.status = 'BLOCKED'",
          "set m.status = 'SCHEDULED'",
          "set m.attempts = greatest",
          "delete m from",
          "m.last_failed_at = utc_timestamp",
          "values(retry_at)",
          "set low_seq =",
          "delete k from",
          "k.retry_at = utc_timestamp",
          "as waiting",
          "halted_by = null",
          "attempts = 0, last_failed_at = null",
          "delete from outbox_message where",
          "select dedup_key from",
          "delete d from",
          "select b.bucket from outbox_bucket b");

  private void assertGoodPlans(String when) {
    List<Plan> plans = explained.plans();
    for (String part : MUST_HAVE_RUN) {
      assertThat(plans.stream().filter(plan -> plan.statement().contains(part)).count())
          .as("how many statements with \"%s\" were run", part)
          .isPositive();
    }
    noneIsBad(when);
  }

  private void noneIsBad(String when) {
    Map<String, String> bad = new HashMap<>(); // one of each kind
    for (Plan plan : explained.plans()) {
      if (MAY.keySet().stream().noneMatch(plan.statement()::contains)) {
        plan.tables().stream()
            .filter(MysqlPlansTest::isBad)
            .forEach(
                table ->
                    bad.put(
                        plan.statement().replaceAll("[0-9]+", "0"),
                        table + "\n  in " + plan.statement()));
      }
    }
    assertThat(String.join("\n\n", bad.values())).as("scans and sorts, " + when).isEmpty();
  }

  /** A sort of a join stands at its first table, which may be a list of ours. */
  private static boolean isBad(Map<String, String> explained) {
    if (explained.get("Extra").contains("filesort")) {
      return true;
    }
    String table = TABLES.get(explained.get("table"));
    boolean insert = explained.get("select_type").equals("INSERT");
    if (table == null || insert || explained.get("Extra").startsWith("Impossible")) {
      return false;
    }
    return List.of("ALL", "index", "index_merge", "null").contains(explained.get("type"))
        || (table.equals("bucket") && !explained.get("key").equals("PRIMARY"));
  }

  @Test
  @DisplayName("neither scan nor sort when one bucket has nearly all messages, after ANALYZE")
  void afterAnalyze() {
    skewed();
    analyze();
    everything();
    assertGoodPlans("with one large bucket");
  }

  @Test
  @DisplayName("neither scan nor sort with the statistics of an empty table")
  void statisticsOfAnEmptyTable() {
    skewed();
    everything();
    assertGoodPlans("with the statistics of an empty table");
  }

  @Test
  @DisplayName("neither scan nor sort in a small outbox, after ANALYZE")
  void small() {
    insert(40, 40, "PENDING", "null");
    insert(200, 12, "PENDING", "null");
    insert(110, 10, "DEAD", "null");
    insert(30, 3, "SCHEDULED", "utc_timestamp(6) - interval 1 day");
    database.inTransaction(
        false, c -> store.append(c, List.of(of("1").payload("").dedupKey("d").build())));
    analyze();
    for (int i = 0; i < 3; i++) {
      Claim claim = watched.claim(all(10_000_000));
      assertThat(claim.messages()).isNotEmpty();
      assertThat(
              claim.settle(
                  inTurn(
                      claim,
                      Decision.delivered(),
                      Decision.retry(Duration.ZERO, "again"),
                      Decision.deadHaltingKey("no"))))
          .isEmpty();
    }
    noneIsBad("in a small outbox");
  }

  @Test
  @DisplayName("neither scan nor sort when all that there is was delivered, of one key or of many")
  void allOfIt() {
    for (int keys : List.of(1, 3, 200)) {
      for (int messages : List.of(1, 10, 40, 70, BATCH)) {
        for (boolean analyzed : List.of(false, true)) {
          insert(messages, keys, "PENDING", "null");
          if (analyzed) {
            analyze();
          }
          for (int left = messages; left > 0; ) {
            Claim claim = watched.claim(all(10_000_000));
            assertThat(claim.messages()).isNotEmpty();
            assertThat(claim.settle(inTurn(claim, Decision.delivered()))).isEmpty();
            left -= claim.messages().size();
          }
        }
      }
    }
    assertThat(explained.plans()).anyMatch(plan -> plan.statement().startsWith("delete"));
    noneIsBad("when all was delivered");
  }

  @Test
  @DisplayName("neither scan nor sort in buckets that are held, with few messages or with many")
  void held() {
    HikariConfig config = new HikariConfig();
    database.pool.copyStateTo(config);
    config.setMaximumPoolSize(4);
    try (HikariDataSource ofHolder = new HikariDataSource(config);
        Keeper keeper =
            keeperOfAll(
                keeping(heldApart(explained.of(database.pool), ofHolder)),
                database,
                Duration.ofMinutes(5))) {
      for (int messages : List.of(1, 40, 2_000)) {
        insert(messages, 200, "PENDING", "null");
        for (int left = messages; left > 0; ) {
          Claim claim = keeper.claim(all(10_000_000));
          assertThat(claim.settle(inTurn(claim, Decision.delivered()))).isEmpty();
          left -= claim.messages().size();
        }
        analyze();
      }
      assertThat(explained.plans())
          .anyMatch(plan -> plan.statement().contains("as pending"))
          .anyMatch(plan -> plan.statement().contains("then b.token end"));
      noneIsBad("in buckets that are held");
    }
  }
}
