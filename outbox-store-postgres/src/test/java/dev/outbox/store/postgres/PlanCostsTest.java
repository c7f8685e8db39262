package dev.outbox.store.postgres;

import static dev.outbox.tck.internal.Decisions.all;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.jdbc.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Where a setting forbids all that the planner has, it takes what is forbidden at a price beyond
 * all others, and a server with JIT compiles such a statement each time, which takes longer than a
 * thousand of them.
 */
@DisplayName("No plan of ours has a forbidden node or is worth compiling")
class PlanCostsTest extends DatabaseTest {
  private static final Duration LEASE = Duration.ofMinutes(5);

  /** Of an append that asks what may be handed over. */
  private static final String ASKS = "outbox_message as m (";

  /** Of a look. */
  private static final String LOOKS = "held as materialized";

  private final Plans plans = new Plans();
  private PostgresOutboxStore watched;
  private long ranges;

  @Override
  protected void configure(HikariConfig config) {
    config.setMaximumPoolSize(1);
  }

  @BeforeEach
  void prepare() {
    assumeTrue(
        database.query("select rolsuper from pg_roles where rolname = current_user").equals("t"),
        "auto_explain, which tells the plans, is loaded by a superuser only");
    // The tests say when the planner learns something.
    database.execute(
        "alter table outbox_message set (autovacuum_enabled = false)",
        "alter table outbox_blocked_key set (autovacuum_enabled = false)",
        "alter table outbox_bucket set (autovacuum_enabled = false)");
    database.execute(Plans.INIT.split(";\\s*"));
    watched = PostgresOutboxStore.of(plans.watch(database.pool));
  }

  /** What the planner chooses by itself is one of the two. */
  @ParameterizedTest
  @ValueSource(strings = {"force_generic_plan", "force_custom_plan"})
  @DisplayName("with the statistics of empty tables, of a backlog and of one large bucket")
  void neither(String mode) {
    database.execute("set plan_cache_mode = " + mode);
    database.execute("analyze outbox_message", "analyze outbox_bucket");
    assertNoneBad("empty");
    insert(100_000, 1_000, "PENDING", "null");
    assertNoneBad("a backlog with the plans of empty tables");
    database.execute("analyze outbox_message", "analyze outbox_bucket");
    assertNoneBad("a backlog");
    database.execute("truncate outbox_message");
    insert(100_000, 1, "PENDING", "null");
    insert(10_000, 50, "SCHEDULED", "now() - interval '1 second'");
    insert(10_000, 50, "SCHEDULED", "now() + interval '1 day'");
    insert(10_000, 50, "DEAD", "null");
    database.execute("analyze outbox_message", "analyze outbox_blocked_key");
    assertNoneBad("one large bucket, delayed messages and dead letters");
    assertThat(ranges).as("deletes by range that were seen").isPositive();
  }

  /** Its transaction is the user's, where nothing forbids a scan. */
  @ParameterizedTest
  @ValueSource(strings = {"force_generic_plan", "auto"})
  @DisplayName(
      "and an append that asks what may be handed over scans no long table by a plan of an empty"
          + " one")
  void handedOver(String mode) {
    database.execute(
        "set plan_cache_mode = " + mode,
        "analyze outbox_message",
        "analyze outbox_bucket",
        "analyze outbox_blocked_key");
    TestDatabase holder = database.withOneConnection();
    watched =
        PostgresOutboxStore.of(heldApart(plans.watch(database.pool), plans.watch(holder.pool)));
    try (Keeper keeper = keeperOfAll(watched, database, Duration.ofDays(1))) {
      await().atMost(Duration.ofMinutes(1)).until(() -> usesCachedPlan(keeper));
      insert(50_000, 1_000, "DEAD", "null");
      await().atMost(Duration.ofMinutes(1)).until(() -> usesCachedPlan(keeper));
      keeper.claim(request()).settle(Map.of());
      assertThat(plans.of(LOOKS)).as("looks at all buckets").isNotEmpty();
    } finally {
      holder.pool.close();
    }
    assertThat(plans.of(ASKS)).noneMatch(plan -> plan.contains("Seq Scan"));
    assertThat(plans.bad()).isEmpty();
  }

  /**
   * Whether the append asked by a cached plan: its bucket's lease may just have been given back.
   */
  private boolean usesCachedPlan(Keeper keeper) {
    plans.forget();
    int before = cachedPlansUsed();
    inTransaction(transaction -> watched.append(keeper, transaction, List.of(own().build())));
    Claim claim = claimOne(keeper, request());
    Claim next = keeper.settleAndClaim(claim, delivered(claim), request()).next();
    assertThat(next.messages()).isEmpty();
    return plans.of(ASKS).size() == 1 && cachedPlansUsed() == before + 1;
  }

  private int cachedPlansUsed() {
    return Integer.parseInt(
        database.query(
            "select coalesce(sum(generic_plans), 0) from pg_prepared_statements where statement"
                + " like '%"
                + ASKS
                + "%'"));
  }

  private void assertNoneBad(String when) {
    for (int i = 0; i < 6; i++) { // more often than the driver tries before it prepares
      everything();
      assertThat(plans.bad()).as("plans, %s", when).isEmpty();
      assertThat(plans.of("seen as materialized")).as("leases that were seen").isNotEmpty();
      ranges += plans.of("between r.lowest and r.highest").size();
      assertThat(plans.forget()).as("plans that were seen").isGreaterThan(20);
    }
  }

  /** A message of each kind of decision, and what people and housekeeping do. */
  private void everything() {
    PostgresOutboxStore fresh = PostgresOutboxStore.of(plans.watch(database.pool));
    fresh.verify();
    fresh.housekeep();
    fresh.housekeep();
    appendOwn();
    watched.claim(request()).settle(Map.of());
    Claim claim = watched.claim(request());
    claim.renew(LEASE.plusMinutes(1));
    Claim next = watched.settleAndClaim(claim, decisions(claim.messages()), request()).next();
    next.settle(decisions(next.messages()));
    watched
        .deadLetters(0, 2)
        .forEach(dead -> assertThat(watched.requeue(dead.message().sequence())).isTrue());
    watched
        .deadLetters(0, 2)
        .forEach(dead -> assertThat(watched.discard(dead.message().sequence())).isTrue());
    long undue =
        Long.parseLong(
            database.query(
                "select coalesce(min(seq), 0) from outbox_message"
                    + " where status = 'SCHEDULED' and available_at > now()"));
    assertThat(watched.cancel(LongStream.range(undue, undue + 15).boxed().collect(toSet()), null))
        .hasSize(undue == 0 ? 0 : 15);
    watched.statistics(
        100); // one with a larger cap looks dear, and is not compiled: BatchStatements
    assertThat(watched.leases().orElseThrow()).isEmpty();
    assertThat(watched.waitingKeys(true, null, 10).found()).hasSizeLessThanOrEqualTo(10);
    assertThat(Findings.wrong(watched)).isEmpty();
    database.execute("update outbox_blocked_key set retry_at = now()");
    Claim blocked = watched.claim(request());
    blocked.settle(decisions(blocked.messages()));
    Claim last = watched.claim(request());
    last.settle(delivered(last));
  }

  private void appendOwn() {
    inTransaction(
        transaction -> {
          for (String dedupKey : new String[] {null, "a", "b"}) {
            OutboxMessage.Builder message = own().dedupKey(dedupKey);
            watched.append(transaction, List.of(message.build()));
            watched.append(transaction, List.of(message.build(), message.build()));
          }
        });
  }

  private void inTransaction(Consumer<Connection> work) {
    database.inTransaction(false, c -> work.accept(plans.watch(c)));
  }

  private static OutboxMessage.Builder own() {
    return of("own");
  }

  private static Map<Long, Decision> delivered(Claim claim) {
    return all(claim, Decision.delivered());
  }

  private static Map<Long, Decision> decisions(List<StoredMessage> messages) {
    List<Decision> kinds =
        List.of(
            Decision.delivered(),
            Decision.delivered(),
            Decision.retry(Duration.ZERO, "no"),
            Decision.deadHaltingKey("no"),
            Decision.dead("no"));
    Map<Long, Decision> decisions = new HashMap<>();
    for (int i = 0; i < messages.size(); i++) {
      if (i % 7 < kinds.size()) {
        decisions.put(messages.get(i).sequence(), kinds.get(i % 7));
      }
    }
    return decisions;
  }

  protected static Claim.Request request() {
    return new Claim.Request("test", 100, 10_000_000, LEASE);
  }
}
