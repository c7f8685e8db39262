package dev.outbox.tck.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.SchemaException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.Rule;
import dev.outbox.tck.SchemaFixture;
import dev.outbox.tck.internal.Patience;
import dev.outbox.tck.internal.Sentence;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.DisplayName;

/** T1 and E1: time and errors. */
@DisplayName("Clock and schema")
@Rule("T1")
abstract class ClockTests<T> extends StoreTests<T> {

  /** How far a client's clock is off. */
  private static final Duration OFF = Duration.ofMinutes(10);

  /** The same where days are remembered: longer than any dedup window. */
  private static final Duration FAR_OFF = Duration.ofDays(3_650);

  @Sentence("leases, delays and retries end by the store's clock")
  void storesClock() {
    MovesClock clock = tck.fixture(MovesClock.class);
    committed("retried", 1);
    settle(claim(), Decision.retry(LONG, "refused"));
    committed(message("delayed").deliverAfter(LONG));
    committed("leased", 1);
    Claim claim = claim();
    assertNothingDue("all is due only after hours");
    clock.moveClock(LONG.plusMinutes(1));
    assertCame("due when the store's clock is past all of them", drain()).hasSize(3);
    requires(
        "S1",
        () ->
            assertThat(settle(claim, Decision.delivered()))
                .as("what settle says was lost, after another took over")
                .hasSize(1));
  }

  @Sentence("a clock that jumps back frees leases that lie too far ahead")
  void jumpsBack() {
    MovesClock clock = tck.fixture(MovesClock.class);
    committed("k", 1);
    claim(100, Duration.ofSeconds(10));
    clock.moveClock(Duration.ofDays(-2));
    clock.moveClock(Duration.ofSeconds(30));
    assertCame("due, when the lease lies two days ahead", drain()).hasSize(1);
  }

  @Rule("S1")
  @Sentence("within its lease a decision counts hours after the claim, for a delayed message too")
  void hoursAfterTheClaim() {
    MovesClock clock = tck.fixture(MovesClock.class);
    committed(message("delayed").deliverAfter(LONG));
    clock.moveClock(LONG.plusMinutes(1));
    Claim claim = claim(100, LONG);
    assertCame("a delayed message, when it is due", claim).hasSize(1);
    clock.moveClock(LONG.dividedBy(2));
    expect("lost", settle(claim, Decision.retry(LONG, "refused"))).isEmpty();
    assertNothingDue(
        "either the decision did not count, or moveClock(…) changes what the store knows a claimed message by: a time that is over when the clock moves on may stay as it is");
  }

  @Sentence("30 seconds are not over soon: of a retry, of a delay, of a lease, of a renewed one")
  void notBeforeItsDelay() {
    committed("retry", 1);
    settle(claim(), Decision.retry(SOME, "refused"));
    committed(message("delay").deliverAfter(SOME));
    committed("lease", 1);
    Claim claim = claim(100, SOME);
    for (String renewed : List.of("", ", renewed,")) {
      letSomeMillisecondsPass();
      Claim next = claim();
      for (StoredMessage over : next.messages()) {
        assertNotOver("a %s of 30 s%s".formatted(over.message().aggregateId(), renewed), next);
      }
      claim.renew(SOME);
    }
  }

  private static void assertNotOver(String what, Claim next) {
    check(next.messages().isEmpty(), "%s is over at once%s", what, OTHER_CLOCK);
  }

  /** Two clients, one of them with a clock that is off. */
  private record Clients<T>(String clocks, OutboxStore<T> first, OutboxStore<T> second) {}

  private List<Clients<T>> clients(Duration off) {
    ClientClocks<T> fixture = tck.fixture(ClientClocks.class);
    OutboxStore<T> exact = fixture.createStore(Clock.systemUTC());
    OutboxStore<T> behind = fixture.createStore(Clock.offset(Clock.systemUTC(), off.negated()));
    OutboxStore<T> ahead = fixture.createStore(Clock.offset(Clock.systemUTC(), off));
    return List.of(
        new Clients<>("the first's clock is behind", behind, exact),
        new Clients<>("the first's clock is ahead", ahead, exact),
        new Clients<>("the second's clock is behind", exact, behind),
        new Clients<>("the second's clock is ahead", exact, ahead));
  }

  private void append(OutboxStore<T> by, OutboxMessage message) {
    tck.inTransaction(t -> by.append(t, List.of(message)));
  }

  @Sentence("retries, delays and leases end by the store's clock, whatever the clients' clocks say")
  void endsByStoresClock() {
    Map<String, BiConsumer<OutboxStore<T>, Duration>> timed = new LinkedHashMap<>();
    timed.put(
        "retry",
        (store, time) -> {
          append(store, message("k").build());
          Claim claim = claim(store);
          settleFirst(claim, Decision.retry(time, "refused"));
        });
    timed.put("delay", (store, time) -> append(store, message("k").deliverAfter(time).build()));
    timed.put(
        "lease",
        (store, time) -> {
          append(store, message("k").build());
          expect("what was claimed", claim(store, request(100, time)).messages()).hasSize(1);
        });
    List<Clients<T>> all = clients(OFF);
    timed.forEach(
        (what, by) -> {
          if (what.equals("lease")) {
            tck.prepare();
            committed("k", 1);
            takenOver();
          }
          all.forEach(clients -> assertEnds(clients, what, by));
        });
  }

  /** That what the first client does ends for the second, after a short time or later. */
  private void assertEnds(
      Clients<T> clients, String what, BiConsumer<OutboxStore<T>, Duration> timed) {
    tck.prepare();
    timed.accept(clients.first(), SOME);
    assertNotOver(
        "for another client a %s of 30 s, where %s by ten minutes,"
            .formatted(what, clients.clocks()),
        claim(clients.second()));
    tck.prepare();
    timed.accept(clients.first(), soon());
    await(
        "the end of a %s of %s of another client, where %s by ten minutes"
            .formatted(what, Patience.seconds(soon()), clients.clocks()),
        () -> claim(clients.second()).messages().isEmpty() ? null : true);
  }

  @Sentence("a dedup window ends by the store's clock, whatever the clients' clocks say")
  void windowByStoresClock() {
    for (Clients<T> clients : clients(FAR_OFF)) {
      tck.prepare();
      append(clients.first(), message("k").dedupKey("d").build());
      clients.second().housekeep();
      append(clients.second(), message("k").dedupKey("d").build());
      tck.use(clients.second());
      assertCame(
              "two messages with one dedup key, appended one after the other, where %s by ten years%s"
                  .formatted(clients.clocks(), OTHER_CLOCK),
              drain())
          .hasSize(1);
    }
  }

  // ---- the schema

  private void whileDamaged(Consumer<SchemaFixture> damage, Runnable test) {
    damaged(damage, test);
    committed("k", 1);
    assertCame("due, after the schema was made whole again", drain()).hasSize(1);
  }

  /** That a store says a sentence for each verb. */
  private void assertSaid(String what, Supplier<OutboxStore<T>> by) {
    assertSaid(what + ", by claim", () -> by.get().claim(request(1, LONG)));
    assertSaid(
        what + ", by append",
        () -> {
          OutboxStore<T> store = by.get();
          tck.inTransaction(t -> store.append(t, List.of(message("k").build())));
        });
    if (store() instanceof SchemaStore) {
      assertSaid(what + ", by verify", () -> ((SchemaStore) by.get()).verify());
    }
  }

  @Rule("E1")
  @Sentence("a missing schema is said in a sentence, also one that goes missing under a store")
  void missing() {
    committed("k", 1);
    drain();
    whileDamaged(
        SchemaFixture::dropSchema,
        () -> {
          assertSaid("a missing schema", tck::createStore);
          assertSaid("a schema gone missing", this::store);
        });
  }

  @Rule("E1")
  @Sentence("an older or newer schema is said in a sentence")
  void otherVersion() {
    whileDamaged(
        SchemaFixture::makeSchemaOlder, () -> assertSaid("an older schema", tck::createStore));
    whileDamaged(
        SchemaFixture::makeSchemaNewer, () -> assertSaid("a newer schema", tck::createStore));
  }

  @Rule("E1")
  @Sentence("emptied tables of the store's own rows are repaired, or said in a sentence")
  void emptied() {
    committed("k", 1);
    whileDamaged(
        SchemaFixture::emptyInternalRows,
        () -> {
          try {
            Claim claim = tck.createStore().claim(request(1, LONG));
            expect("due with the store's own rows gone", claim.messages()).isNotEmpty();
          } catch (RuntimeException e) {
            expect("claim with the store's own rows gone", e).isInstanceOf(SchemaException.class);
          }
          tck.reset();
        });
  }

  @Rule("E1")
  @Sentence("migrate of a schema that is there changes nothing; verify finds it whole")
  void migrate() {
    committed("k", 2);
    assertMigrated();
    assertCame("due after migrate", drain()).hasSize(2);
  }
}
