package dev.outbox.tck.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.OpenWork;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;

/** I8. */
@Rule("I8")
abstract class InboxRetentionTests<T> extends InboxTests<T> {
  private void housekeep() {
    store().housekeep();
  }

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
          housekeep();
          return begin(done) instanceof Begin.Started<T> ? true : null;
        });
  }

  @Sentence("within its retention a key is not forgotten, whatever housekeeping does")
  void kept() {
    firstTime(key("recorded"));
    complete(started(key("completed")), result("r"));
    release(started(key("released")), "refused");
    Lock<T> lock = started(key("locked"));
    started(key("over"), soon());
    letLeaseEnd();
    housekeep();
    assertDone("a key that was recorded", begin(key("recorded")), InboxResult.none());
    assertDone("a key that was completed", begin(key("completed")), result("r"));
    assertThat(started("a released key", begin(key("released"))).attempts())
        .as("attempts of a key that was released, after housekeeping")
        .isEqualTo(2);
    Lock<T> again = requires("I4", () -> awaitStarted(key("over")));
    expect("attempts of a key whose lock ran out, after housekeeping", again.attempts())
        .isEqualTo(2);
    expect("complete, after housekeeping", complete(lock, result("r"))).isTrue();
  }

  @Sentence("after its retention a key is forgotten, whether recorded, completed or given up")
  void forgotten() {
    rememberFor(tck.shortTime());
    firstTime(key("recorded"));
    complete(started(key("completed")), result("r"));
    awaitForgotten(key("recorded"));
    awaitForgotten(key("completed"));
    release(started(key("released")), "refused");
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
    requires("I4", () -> assertAccepted("renew", renew(renewed, LONG)));
    firstTime(KEY);
    awaitForgotten(KEY);
    requires(
        "I3",
        () -> {
          assertNotStartedAnew(key("locked"));
          assertNotStartedAnew(key("renewed"));
        });
    expect("complete, after housekeeping", complete(lock, result("r"))).isTrue();
    expect("complete, after renew and housekeeping", complete(renewed, result("r"))).isTrue();
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
    expect("complete", complete(lock, result("r"))).isTrue();
    clock.moveClock(Duration.ofMinutes(50));
    housekeep();
    assertDone(
        "a key that was done 50 minutes ago, of the hour that it is remembered",
        begin(KEY),
        result("r"));
    clock.moveClock(Duration.ofMinutes(20));
    housekeep();
    started("a key that was done longer ago than it is remembered", begin(KEY));
  }

  @Sentence("housekeeping does not wait for an open transaction, and spares what that changes")
  void waitsForNobody() {
    rememberFor(tck.shortTime());
    release(started(key("released")), "refused");
    Lock<T> lock = started(key("over"), Duration.ofMillis(1));
    firstTime(KEY);
    tck.await(
        "housekeeping to forget a key that was done",
        () -> {
          try (OpenWork<T> transaction = open()) {
            change(transaction, lock);
            housekeep();
            transaction.rollback();
          }
          return begin(KEY) instanceof Begin.Started<T> ? true : null;
        });
    try (OpenWork<T> transaction = open()) {
      change(transaction, lock);
      housekeep();
      transaction.commit();
    }
    assertDone("a key that was completed beside housekeeping", begin(lock.key()), result("r"));
    assertDone(
        "a key that was recorded beside housekeeping", begin(key("released")), InboxResult.none());
  }

  private void change(OpenWork<T> transaction, Lock<T> lock) {
    boolean completed =
        transaction.get("complete", transaction.start(t -> lock.complete(t, result("r"))));
    requires("I4", () -> assertAccepted("complete", completed));
    transaction.get("firstTime", transaction.start(t -> store().firstTime(t, key("released"))));
  }
}
