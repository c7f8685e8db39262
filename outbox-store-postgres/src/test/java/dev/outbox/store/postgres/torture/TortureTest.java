package dev.outbox.store.postgres.torture;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.spi.DeadLetterStore.DeadLetter;
import dev.outbox.store.postgres.Database;
import dev.outbox.store.postgres.PostgresOutboxStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Four relay processes with two workers each on one database, while they are killed, stopped for
 * longer than their leases and continued, and their broker fails, rejects, is away, hangs and
 * throws: nothing is lost, nothing leaks, keys keep their order (O1), no key is in two live claims
 * (C1), no message is below its bucket's low-water mark, and no bucket stays behind.
 *
 * <p>{@code -Doutbox.torture.seconds=300} for longer, {@code -Doutbox.torture.seed=…} for the same
 * random choices again (though not the same timing).
 */
class TortureTest {
  private static final int SECONDS = Integer.getInteger("outbox.torture.seconds", 12);
  private static final long SEED = Long.getLong("outbox.torture.seed", System.nanoTime());
  private static final Duration LEASE = Duration.ofMillis(1_500);
  private static final Duration PATIENCE = Duration.ofSeconds(120);
  private static final int PRODUCERS = 3;
  private static final int KEYS = 60;

  private static final int CLAIMS_A_SECOND = 20;
  private static final String ACCEPTED =
      "select count(*) from torture_claim where event = 'accepted'";

  /** A BLOCKED message that no claim would ever find, or a key that nobody can unblock. */
  private static final String STUCK =
      """
      select string_agg(what, E'\\n') from (
        select 'BLOCKED, but nobody finds it: ' || m.seq || ' of ' || m.aggregate_id
            || ', its key starts at ' || coalesce(k.low_seq::text, 'nothing') as what
          from outbox_message m left join outbox_blocked_key k
            on k.bucket = m.bucket and k.key = coalesce(m.partition_key, m.aggregate_id)
          where m.status = 'BLOCKED' and (k.key is null or m.seq < k.low_seq)
        union all
        select 'halted, but not by a dead letter: ' || k::text from outbox_blocked_key k
          where k.halted_by is not null and not exists (select from outbox_message m
            where m.seq = k.halted_by and m.status = 'DEAD')
      ) stuck
      """;

  /** A committed message that no claim would find, because its bucket is read from later on. */
  private static final String BELOW_THE_MARK =
      """
      select string_agg('PENDING, but below the mark: ' || m::text || b::text, E'\\n')
      from outbox_message m join outbox_bucket b on b.bucket = m.bucket
      where m.status = 'PENDING' and m.seq < b.low_water
      """;

  private static final String MARKS = "select count(*) from outbox_bucket where low_water > 0";

  private final Random random = new Random(SEED);
  private final AtomicBoolean producing = new AtomicBoolean(true);
  private DatabaseServer server;
  private Database database;
  private PostgresOutboxStore store;
  private Journal journal;

  /** The most marks that were in use at once. */
  private int marks;

  @BeforeEach
  void start() {
    ChildJvm.assumeSignals();
    server = DatabaseServer.postgres();
    database = new Database(server);
    store = PostgresOutboxStore.of(database.pool);
    database.execute(store.ddl());
    database.execute(Journal.TABLES);
    database.execute(
        "insert into torture_key (key) select 'key-' || i from generate_series(0, %d) i"
            .formatted(KEYS - 1));
    journal = new Journal(database.pool);
  }

  @AfterEach
  void stop() throws Exception {
    producing.set(false);
    if (database != null) {
      database.close();
    }
    if (server != null) {
      server.close();
    }
  }

  @Test
  void nothingIsLostAndOrderIsKept() throws Exception {
    System.out.printf("Torture for %d s with -Doutbox.torture.seed=%d%n", SECONDS, SEED);
    Operator operator = new Operator(store, journal, random.nextLong());
    List<Producer> producers = new ArrayList<>();
    for (int i = 0; i < PRODUCERS; i++) {
      producers.add(new Producer(database.pool, store, random.nextLong(), KEYS, producing::get));
    }
    Duration drained;
    try (Fleet fleet = new Fleet(server, database, journal, LEASE, random.nextLong())) {
      fleet.launch();
      CompletableFuture<Void> produced = produce(producers);
      long begin = System.nanoTime();
      while (goesOn(Duration.ofNanos(System.nanoTime() - begin).toSeconds())) {
        fleet.trouble();
        operator.look(false);
        assertNothingIsStuck();
        Thread.sleep(50);
      }
      producing.set(false);
      produced.get();
      fleet.calm();
      drained = drain(operator);
      assertThat(fleet.end()).as("what relays said that did not end well").isEmpty();
    }
    Oracle oracle = judge(producers, operator);
    report(producers, operator, oracle, drained);
    assertThat(oracle.violations).as("seed %d", SEED).isEmpty();
    assertNothingIsStuck();
    assertThat(marks).as("the most marks that were in use at once, seed %d", SEED).isPositive();
    assertThat(database.query("select count(*) from outbox_blocked_key")).isEqualTo("0");
    assertThat(database.query("select count(*) from outbox_bucket where owner is not null"))
        .as("buckets that are still leased after all relays have ended")
        .isEqualTo("0");
  }

  /** On a busy machine longer, so that something happens, but not for ever. */
  private boolean goesOn(long seconds) {
    return seconds < SECONDS
        || (seconds < 3 * SECONDS
            && Integer.parseInt(database.query(ACCEPTED)) < CLAIMS_A_SECOND * SECONDS);
  }

  private static CompletableFuture<Void> produce(List<Producer> producers) {
    Executor threads = task -> new Thread(task, "producer").start();
    return CompletableFuture.allOf(
        producers.stream()
            .map(producer -> CompletableFuture.runAsync(producer, threads))
            .toArray(CompletableFuture[]::new));
  }

  private void assertNothingIsStuck() {
    assertThat(database.query(STUCK)).as("what is stuck, seed %d", SEED).isNull();
    assertThat(database.query(BELOW_THE_MARK)).as("what is passed by, seed %d", SEED).isNull();
    marks = Math.max(marks, Integer.parseInt(database.query(MARKS)));
  }

  /** Until only doomed messages are left, which are dead. */
  private Duration drain(Operator operator) {
    long before = System.nanoTime();
    String left =
        "select string_agg(m::text, E'\\n') from (select * from outbox_message"
            + " where status <> 'DEAD' or event_type <> 'DOOMED' order by seq limit 20) m";
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              operator.look(true);
              assertNothingIsStuck();
              assertThat(database.query(left))
                  .as("the first that are left, seed %d", SEED)
                  .isNull();
            });
    return Duration.ofNanos(System.nanoTime() - before);
  }

  private Oracle judge(List<Producer> producers, Operator operator) throws Exception {
    Oracle oracle = new Oracle(producers.stream().flatMap(p -> p.committed.stream()).toList());
    oracle.readDeliveries(database.pool);
    oracle.readClaims(database.pool);
    Set<UUID> dead =
        store.deadLetters(0, 1_000_000).stream()
            .map(DeadLetter::message)
            .map(message -> message.message().id())
            .collect(toSet());
    oracle.compare(dead, operator.discarded);
    return oracle;
  }

  private void report(
      List<Producer> producers, Operator operator, Oracle oracle, Duration drained) {
    System.out.printf(
        "committed %d, rolled back %d, refused as duplicates %d; delivered %d, again %d;"
            + " requeued %d, discarded %d; claims accepted %d; drained %d ms after the last"
            + " trouble; marks in use %d; violations %d; faults: %s%n",
        producers.stream().mapToInt(p -> p.committed.size()).sum(),
        producers.stream().mapToInt(p -> p.rolledBack.size()).sum(),
        producers.stream().mapToInt(p -> p.duplicates.size()).sum(),
        oracle.delivered(),
        oracle.deliveries - oracle.delivered(),
        operator.requeued,
        operator.discarded.size(),
        oracle.claims,
        drained.toMillis(),
        marks,
        oracle.violations.size(),
        database.query(
            "select string_agg(kind || ' ' || n, ', ') from"
                + " (select kind, count(*) n from torture_fault group by kind order by kind) f"));
  }
}
