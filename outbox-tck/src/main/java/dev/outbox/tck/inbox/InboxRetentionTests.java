package dev.outbox.tck.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.InboxStore.InboxStatistics;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.Rule;
import dev.outbox.tck.SchemaFixture;
import dev.outbox.tck.internal.OpenWork;
import dev.outbox.tck.internal.Patient;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** I8, F1 and E1: what is forgotten, what is counted, and the schema. */
@Rule("I8")
abstract class InboxRetentionTests<T> extends InboxTests<T> {
  private static final int CAP = 100;

  /** From now on what is done is forgotten after this. */
  private void rememberFor(Duration retention) {
    Retentions<T> fixture = tck.fixture(Retentions.class);
    tck.use(fixture.createStore(retention));
  }

  /** Waits until the retention of what was there before is over, and housekeeping has noticed. */
  private void awaitForgotten(InboxKey done) {
    tck.await(
        "housekeeping to forget a key that was done",
        () -> {
          store().housekeep();
          return begin(done) instanceof Begin.Started<T> ? true : null;
        });
  }

  @Sentence("within its retention a key is not forgotten, whatever housekeeping does")
  void kept() {
    firstTime(key("recorded"));
    started(key("completed")).complete(result("r"));
    started(key("released")).release("refused");
    Lock<T> lock = started(key("locked"));
    started(key("over"), soon());
    letLeaseEnd();
    store().housekeep();
    assertDone("a key that was recorded", begin(key("recorded")), InboxResult.none());
    assertDone("a key that was completed", begin(key("completed")), result("r"));
    assertThat(started("a released key", begin(key("released"))).attempts())
        .as("attempts of a key that was released, after housekeeping")
        .isEqualTo(2);
    Lock<T> again = requires("I4", () -> awaitStarted(key("over")));
    expect("attempts of a key whose lock ran out, after housekeeping", again.attempts())
        .isEqualTo(2);
    expect("complete, after housekeeping", lock.complete(result("r"))).isTrue();
  }

  @Sentence("after its retention a key is forgotten, whether recorded, completed or given up")
  void forgotten() {
    rememberFor(tck.shortTime());
    firstTime(key("recorded"));
    started(key("completed")).complete(result("r"));
    awaitForgotten(key("recorded"));
    awaitForgotten(key("completed"));
    started(key("released")).release("refused");
    started(key("over"), Duration.ofMillis(1));
    letLeaseEnd();
    firstTime(key("last"));
    awaitForgotten(key("last"));
    for (String givenUp : new String[] {"released", "over"}) {
      assertThat(started("a key that was given up", begin(key(givenUp))).attempts())
          .as("attempts of a key whose lock is %s, after its retention", givenUp)
          .isEqualTo(1);
    }
  }

  @Sentence("a live lock is not forgotten, however short the retention is")
  void liveLock() {
    rememberFor(tck.shortTime());
    Lock<T> lock = started(key("locked"));
    Lock<T> renewed = started(key("renewed"), soon());
    requires("I4", () -> assertAccepted("renew", renewed.renew(LONG)));
    firstTime(KEY);
    awaitForgotten(KEY);
    requires(
        "I3",
        () -> {
          assertNotStartedAnew(key("locked"));
          assertNotStartedAnew(key("renewed"));
        });
    expect("complete, after housekeeping", lock.complete(result("r"))).isTrue();
    expect("complete, after renew and housekeeping", renewed.complete(result("r"))).isTrue();
  }

  /** Attempts tell what was forgotten from what is taken over. */
  private void assertNotStartedAnew(InboxKey key) {
    Begin<T> begin = begin(key);
    if (begin instanceof Begin.Started<T> started && started.lock().attempts() == 1) {
      return; // it was forgotten, which complete shows
    }
    assertNotStarted("its lock has hours left", begin);
  }

  @Sentence("the retention counts from when a key was done, not from when it was begun")
  void countsFromTheEnd() {
    MovesClock clock = tck.fixture(MovesClock.class);
    rememberFor(Duration.ofHours(1));
    Lock<T> lock = started(KEY, LONG);
    clock.moveClock(Duration.ofMinutes(50));
    expect("complete", lock.complete(result("r"))).isTrue();
    clock.moveClock(Duration.ofMinutes(50));
    store().housekeep();
    assertDone(
        "a key that was done 50 minutes ago, of the hour that it is remembered",
        begin(KEY),
        result("r"));
    clock.moveClock(Duration.ofMinutes(20));
    store().housekeep();
    started("a key that was done longer ago than it is remembered", begin(KEY));
  }

  @Sentence("housekeeping does not wait for an open transaction, and spares what that changes")
  void waitsForNobody() {
    rememberFor(tck.shortTime());
    started(key("released")).release("refused");
    Lock<T> lock = started(key("over"), Duration.ofMillis(1));
    firstTime(KEY);
    tck.await(
        "housekeeping to forget a key that was done",
        () -> {
          try (OpenWork<T> transaction = tck.open()) {
            change(transaction, lock);
            store().housekeep();
            transaction.rollback();
          }
          return begin(KEY) instanceof Begin.Started<T> ? true : null;
        });
    InboxStore<T> forgetful = store();
    rememberFor(LONG);
    Lock<T> other = started(key("other"), Duration.ofMillis(1));
    try (OpenWork<T> transaction = tck.open()) {
      change(transaction, other);
      forgetful.housekeep();
      transaction.commit();
    }
    assertDone("a key that was completed beside housekeeping", begin(other.key()), result("r"));
    assertDone(
        "a key that was recorded beside housekeeping", begin(key("released")), InboxResult.none());
  }

  private void change(OpenWork<T> transaction, Lock<T> lock) {
    boolean completed = transaction.call("complete", t -> lock.complete(t, result("r")));
    requires("I4", () -> assertAccepted("complete", completed));
    transaction.call("firstTime", t -> store().firstTime(t, key("released")));
  }

  // ---- statistics

  private InboxStatistics statistics(int cap) {
    InboxStatistics statistics = store().statistics(cap);
    if (statistics == null) {
      throw Patient.notUnlocked("the store", "statistics");
    }
    return statistics;
  }

  @Rule("F1")
  @Sentence("statistics count what is in progress, what ran out and what failed, and nothing else")
  void statistics() {
    expect("statistics of an empty inbox", statistics(CAP))
        .isEqualTo(new InboxStatistics(CAP, 0, 0, 0));
    firstTime(key("recorded"));
    started(key("completed")).complete(result("r"));
    expect("statistics, when all is done", statistics(CAP))
        .isEqualTo(new InboxStatistics(CAP, 0, 0, 0));
    started(key("a"));
    started(key("b"));
    started(key("c"));
    started(key("failed")).release("refused");
    started(key("failed too")).release("refused");
    started(key("over"), soon());
    Lock<T> other = started(key("other"), soon());
    requires("I4", () -> awaitStarted(other.key())); // so both have ended
    expect("statistics of 4 in progress, 1 that ran out, 2 that failed", statistics(CAP))
        .isEqualTo(new InboxStatistics(CAP, 4, 1, 2));
    started(key("failed"));
    awaitStarted(key("over")).complete(result("r"));
    expect("statistics of 5 in progress, 1 that failed", statistics(CAP))
        .isEqualTo(new InboxStatistics(CAP, 5, 0, 1));
  }

  @Rule("F1")
  @Sentence("statistics are exact below the cap, are the cap from there on, and refuse one below 1")
  void statisticsEndAtTheCap() {
    int each = 7;
    for (int i = 0; i < each; i++) {
      started(key("locked " + i));
      started(key("failed " + i)).release("refused");
    }
    for (int cap : List.of(1, each - 1, each, each + 1, Integer.MAX_VALUE)) {
      long few = Math.min(cap, each);
      assertThat(statistics(cap))
          .as("statistics with a cap of %s, beside %s keys of each kind", cap, each)
          .isEqualTo(new InboxStatistics(cap, few, 0, few));
    }
    for (int cap : List.of(0, -1, Integer.MIN_VALUE)) {
      assertRefused("statistics(%s)".formatted(cap), "" + cap, () -> statistics(cap));
    }
  }

  // ---- the schema

  private void whileDamaged(Consumer<SchemaFixture> damage, Runnable test) {
    damaged(damage, test);
    expect("firstTime, after the schema was made whole", firstTime(key("after"))).isTrue();
  }

  /** That an inbox says a sentence for each verb. */
  private void assertSaid(String what, Supplier<InboxStore<T>> by) {
    assertSaid(what + ", by begin", () -> by.get().begin(KEY, LONG));
    assertSaid(
        what + ", by firstTime",
        () -> {
          InboxStore<T> store = by.get();
          tck.inTransaction(t -> store.firstTime(t, KEY));
        });
    assertSaid(what + ", by housekeep", () -> by.get().housekeep());
    if (store() instanceof SchemaStore) {
      assertSaid(what + ", by verify", () -> ((SchemaStore) by.get()).verify());
    }
  }

  @Rule("E1")
  @Sentence("a missing schema is said in a sentence, also one that goes missing under an inbox")
  void missing() {
    firstTime(KEY);
    whileDamaged(
        SchemaFixture::dropSchema,
        () -> {
          assertSaid("a missing schema", tck::createStore);
          assertSaid("a schema gone missing", this::store);
        });
  }

  @Rule("E1")
  @Sentence("an older or newer schema, and one without a version, is said in a sentence")
  void otherVersion() {
    whileDamaged(
        SchemaFixture::makeSchemaOlder, () -> assertSaid("an older schema", tck::createStore));
    whileDamaged(
        SchemaFixture::makeSchemaNewer, () -> assertSaid("a newer schema", tck::createStore));
    whileDamaged(
        SchemaFixture::emptyInternalRows,
        () -> assertSaid("a schema without its version", tck::createStore));
  }

  @Rule("E1")
  @Sentence("migrate of a schema that is there changes nothing; verify finds it whole")
  void migrate() {
    firstTime(KEY);
    assertMigrated();
    expect("firstTime of a key from before", firstTime(KEY)).isFalse();
  }
}
