package dev.outbox.tck.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.outbox.OutboxMessage;
import dev.outbox.Texts;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.Inbox.InProgressException;
import dev.outbox.inbox.InboxResult;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.OpenWork;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.util.List;

/** I3 to I5. */
@Rule("I4")
abstract class InboxLockTests<T> extends InboxTests<T> {

  @Rule("I3")
  @Sentence("while somebody has the lock nobody else is given it")
  void oneAtATime() {
    List<Duration> locks = List.of(LONG, SOME, OutboxMessage.MAX_DELAY);
    locks.forEach(lock -> started(key("locked for " + lock), lock));
    letSomeMillisecondsPass();
    for (Duration lock : locks) {
      assertNotStarted("its lock of " + lock + " is not over", begin(key("locked for " + lock)));
    }
    started(key("another"));
  }

  @Rule("I3")
  @Sentence("a lock that was renewed lasts from then on")
  void renewed() {
    Lock<T> lock = started(KEY, soon());
    requires("I4", () -> assertAccepted("renew", lock.renew(SOME)));
    letLeaseEnd();
    letSomeMillisecondsPass();
    assertNotStarted("its lock was renewed for " + SOME, begin(KEY));
    expect("renew once more", lock.renew(LONG)).isTrue();
  }

  @Rule("I3")
  @Sentence("a lock ends by the store's clock")
  void storesClock() {
    MovesClock clock = tck.fixture(MovesClock.class);
    started(KEY, LONG);
    clock.moveClock(LONG.minusMinutes(1));
    assertNotStarted("a minute of its lock is left", begin(KEY));
    clock.moveClock(Duration.ofMinutes(2));
    started("a key whose lock ended a minute ago, by the store's clock", begin(KEY));
  }

  @Rule("I3")
  @Sentence("locks that are too short or too long are refused, and nothing is locked")
  void refusesDurations() {
    Lock<T> lock = started(key("renewed"));
    for (Duration wrong :
        List.of(
            Duration.ZERO,
            Duration.ofNanos(999_999),
            Duration.ofSeconds(-1),
            OutboxMessage.MAX_DELAY.plusNanos(1),
            Duration.ofSeconds(Long.MAX_VALUE))) {
      assertRefused(
          "begin with a lock of %s".formatted(wrong),
          Texts.time(wrong),
          () -> store().begin(KEY, wrong, Fingerprint.none()));
      assertRefused("renew for %s".formatted(wrong), Texts.time(wrong), () -> lock.renew(wrong));
    }
    assertThat(started("a key of which only a wrong lock was asked for", begin(KEY)).attempts())
        .as("attempts, after some that were refused")
        .isEqualTo(1);
  }

  // ---- I5

  @Rule("I5")
  @Sentence("a key in progress is said to be in progress, and for how long")
  void inProgress() {
    Lock<T> lock = started(KEY);
    assertInProgress(begin(KEY), LONG);
    expect("renew", lock.renew(LONG.multipliedBy(2))).isTrue();
    Begin<T> renewed = begin(KEY);
    requires("I3", () -> assertInProgress(renewed, LONG.multipliedBy(2)));
    lock.complete(result("r"));
    requires("I6", () -> assertDone("a key that was completed", begin(KEY), result("r")));
  }

  /** With a minute for a slow database, and no assertion about its speed. */
  private static void assertInProgress(Begin<?> begin, Duration most) {
    requires("I3", () -> assertNotStarted("its lock has hours left", begin));
    expect("what begin says of a key in progress", begin)
        .withFailMessage(() -> "begin of a key in progress says '%s'".formatted(told(begin)))
        .isInstanceOfSatisfying(
            Begin.InProgress.class,
            progress ->
                assertThat(progress.left())
                    .as("time left of a lock of %s", most)
                    .isPositive()
                    .isLessThanOrEqualTo(most)
                    .isGreaterThan(most.dividedBy(2)));
  }

  @Rule("I5")
  @Sentence("firstTime of a key in progress fails, says for how long, and changes nothing")
  void firstTimeInProgress() {
    Lock<T> lock = started(KEY);
    Throwable failure = catchThrowable(() -> tck.inTransaction(t -> store().firstTime(t, KEY)));
    expect("firstTime of a key in progress, which is neither to be handled nor done", failure)
        .isInstanceOf(InProgressException.class);
    assertThat(((InProgressException) failure).left())
        .as("time left of a lock of %s", LONG)
        .isPositive()
        .isLessThanOrEqualTo(LONG);
    expect("complete, after somebody else's firstTime failed", lock.complete(result("r"))).isTrue();
  }

  @Sentence("after the end of a lock begin takes it over; the old one changes nothing, and says so")
  void staleChangesNothing() {
    TakenOver<T> locks = takenOver(KEY);
    expect("attempts of the first", locks.stale().attempts()).isEqualTo(1);
    expect("attempts of the one that took over", locks.current().attempts()).isEqualTo(2);
    assertStale(locks.stale(), "was taken over");
    requires("I3", () -> assertNotStarted("a stale lock was released", begin(KEY)));
    assertThat(locks.current().complete(result("current")))
        .as("complete by the one that took over, after the stale one tried everything")
        .isTrue();
    assertStale(locks.stale(), "was taken over, and the key is done");
    requires("I6", () -> assertDone("a key that was taken over", begin(KEY), result("current")));
  }

  private void assertStale(Lock<T> lock, String what) {
    expect("complete by a lock that %s".formatted(what), lock.complete(result("stale"))).isFalse();
    assertThat(completeInTransaction(lock, result("stale")))
        .as("complete in a transaction by a lock that %s", what)
        .isFalse();
    expect("renew of a lock that %s".formatted(what), lock.renew(LONG)).isFalse();
    expect("release of a lock that %s".formatted(what), lock.release("stale")).isFalse();
  }

  @Sentence("a lock that was released and begun again by another changes nothing, and says so")
  void staleAfterRelease() {
    Lock<T> first = started(KEY);
    first.release("refused");
    Begin<T> again = begin(KEY);
    requires("I6", () -> started("a key that was released", again));
    assertStale(first, "was released, and which another has now");
    assertThat(started("a released key", again).complete(result("r")))
        .as("complete by the one that has it now")
        .isTrue();
  }

  @Sentence("after the end of a lock firstTime takes the key over")
  void firstTimeTakesOver() {
    Lock<T> stale = started(KEY, soon());
    boolean first =
        tck.await(
            endOfLock(),
            () -> {
              try {
                return firstTime(KEY);
              } catch (InProgressException e) {
                return null;
              }
            });
    expect("firstTime, after the end of a lock", first).isTrue();
    assertStale(stale, "firstTime took over");
    requires("I6", () -> assertDone("a key that was recorded", begin(KEY), InboxResult.none()));
  }

  @Sentence("when the transaction that took a key over rolls back, the lock is its holder's again")
  void takeoverRolledBack() {
    Lock<T> lock = started(KEY, soon());
    tck.await(
        endOfLock(),
        () -> {
          try (OpenWork<T> transaction = tck.open()) {
            Boolean first =
                transaction.call(
                    "firstTime",
                    t -> {
                      try {
                        return store().firstTime(t, KEY);
                      } catch (InProgressException e) {
                        return false;
                      }
                    });
            transaction.rollback();
            return first ? true : null;
          }
        });
    assertThat(lock.complete(result("first")))
        .as("complete, after the transaction that took the key over rolled back")
        .isTrue();
    requires("I6", () -> assertDone("a key that was completed", begin(KEY), result("first")));
  }

  @Sentence("a lock that ran out is accepted as long as nobody took over")
  void acceptedAfterItsEnd() {
    Lock<T> completed = started(key("completed"), soon());
    Lock<T> inTransaction = started(key("in transaction"), soon());
    Lock<T> renewed = started(key("renewed"), soon());
    Lock<T> released = started(key("released"), soon());
    Lock<T> other = started(key("other"), soon());
    awaitStarted(other.key()); // so the others have ended, too
    expect("complete after the end", completed.complete(result("late"))).isTrue();
    assertThat(completeInTransaction(inTransaction, result("late")))
        .as("complete in a transaction after the end")
        .isTrue();
    expect("release after the end", released.release("late")).isTrue();
    expect("renew after the end", renewed.renew(LONG)).isTrue();
    expect("complete after that", renewed.complete(result("late"))).isTrue();
    requires(
        "I6",
        () -> {
          for (Lock<T> lock : java.util.List.of(completed, inTransaction, renewed)) {
            assertDone("a key completed late", begin(lock.key()), result("late"));
          }
        });
  }

  @Sentence("complete and release, repeated, say the same again, and the other one says no")
  void repeated() {
    Lock<T> completed = started(key("completed"));
    expect("complete", completed.complete(result("first"))).isTrue();
    expect("complete once more", completed.complete(result("first"))).isTrue();
    assertThat(completeInTransaction(completed, result("first")))
        .as("complete once more, in a transaction")
        .isTrue();
    expect("release after complete", completed.release("too late")).isFalse();
    expect("renew after complete", completed.renew(LONG)).isFalse();
    Lock<T> released = started(key("released"));
    expect("release", released.release("refused")).isTrue();
    expect("release once more", released.release("refused")).isTrue();
    expect("complete after release", released.complete(result("too late"))).isFalse();
    expect("renew after release", released.renew(LONG)).isFalse();
  }

  @Sentence("a complete whose reply was lost is carried out, and says so when it is repeated")
  void lostReply() {
    LosesReplies fixture = tck.fixture(LosesReplies.class);
    Lock<T> lock = started(KEY);
    fixture.losingTheReply(() -> lock.complete(result("r")));
    expect("complete once more, when the reply to the first was lost", lock.complete(result("r")))
        .isTrue();
    requires("I6", () -> assertDone("a key that was completed", begin(KEY), result("r")));
  }
}
