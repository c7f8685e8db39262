package dev.outbox.tck.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.outbox.OutboxMessage;
import dev.outbox.Texts;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.Inbox.InProgressException;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.util.List;

/** I3 and I5. */
@Rule("I3")
abstract class InboxLockTests<T> extends InboxTests<T> {

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

  @Sentence("a lock that was renewed lasts from then on")
  void renewed() {
    Lock<T> lock = started(KEY, soon());
    requires("I4", () -> assertAccepted("renew", lock.renew(SOME)));
    letLeaseEnd();
    letSomeMillisecondsPass();
    assertNotStarted("its lock was renewed for " + SOME, begin(KEY));
    expect("renew once more", lock.renew(LONG)).isTrue();
  }

  @Sentence("a lock ends by the store's clock")
  void storesClock() {
    MovesClock clock = tck.fixture(MovesClock.class);
    started(KEY, LONG);
    clock.moveClock(LONG.minusMinutes(1));
    assertNotStarted("a minute of its lock is left", begin(KEY));
    clock.moveClock(Duration.ofMinutes(2));
    started("a key whose lock ended a minute ago, by the store's clock", begin(KEY));
  }

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
}
