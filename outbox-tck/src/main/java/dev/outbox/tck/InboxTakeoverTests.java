package dev.outbox.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.Inbox.InProgressException;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import org.junit.jupiter.api.Test;

/** I4. */
abstract class InboxTakeoverTests<T> extends InboxTests<T> {
  InboxTakeoverTests(InboxStoreTck<T> tck) {
    super(tck);
  }

  @Test
  @Rule("I4")
  @Sentence("after the end of a lock begin takes it over, and the attempt counts")
  void takesOver() {
    TakenOver<T> locks = takenOver(KEY);
    assertThat(locks.stale().attempts()).as("attempts of the first").isEqualTo(1);
    assertThat(locks.current().attempts()).as("attempts of the one that took over").isEqualTo(2);
  }

  @Test
  @Rule("I4")
  @Sentence("a lock that was taken over changes nothing, and says so")
  void staleChangesNothing() {
    TakenOver<T> locks = takenOver(KEY);
    assertStale(locks.stale(), "was taken over");
    StoreTests.requires("I3", () -> assertNotStarted("a stale lock was released", begin(KEY)));
    assertThat(complete(locks.current(), result("current")))
        .as("complete by the one that took over, after the stale one tried everything")
        .isTrue();
    assertStale(locks.stale(), "was taken over, and the key is done");
    StoreTests.requires(
        "I6", () -> assertDone("a key that was taken over", begin(KEY), result("current")));
  }

  private void assertStale(Lock<T> lock, String what) {
    assertThat(complete(lock, result("stale"))).as("complete by a lock that %s", what).isFalse();
    assertThat(completeInTransaction(lock, result("stale")))
        .as("complete in a transaction by a lock that %s", what)
        .isFalse();
    assertThat(renew(lock, LONG)).as("renew of a lock that %s", what).isFalse();
    assertThat(release(lock, "stale")).as("release of a lock that %s", what).isFalse();
  }

  @Test
  @Rule("I4")
  @Sentence("a lock that was released and begun again by another changes nothing, and says so")
  void staleAfterRelease() {
    Lock<T> first = started(KEY);
    release(first, "refused");
    Begin<T> again = begin(KEY);
    StoreTests.requires("I6", () -> started("a key that was released", again));
    assertStale(first, "was released, and which another has now");
    assertThat(complete(started("a released key", again), result("r")))
        .as("complete by the one that has it now")
        .isTrue();
  }

  @Test
  @Rule("I4")
  @Sentence("after the end of a lock firstTime takes the key over")
  void firstTimeTakesOver() {
    Lock<T> stale = started(KEY, soon());
    assertThat(awaitFirstTime(KEY)).as("firstTime, after the end of a lock").isTrue();
    assertStale(stale, "firstTime took over");
    StoreTests.requires(
        "I6", () -> assertDone("a key that was recorded", begin(KEY), InboxResult.none()));
  }

  private boolean awaitFirstTime(InboxKey key) {
    return tck.await(
        endOfLock(),
        () -> {
          try {
            return firstTime(key);
          } catch (AssertionError e) {
            if (e.getCause() instanceof InProgressException) {
              return null;
            }
            throw e;
          }
        });
  }

  @Test
  @Rule("I4")
  @Sentence("when the transaction that took a key over rolls back, the lock is its holder's again")
  void takeoverRolledBack() {
    Lock<T> lock = started(KEY, soon());
    tck.await(
        endOfLock(),
        () -> {
          try (OpenWork<T> transaction = open()) {
            Boolean first =
                transaction.get(
                    "firstTime",
                    transaction.start(
                        t -> {
                          try {
                            return store().firstTime(t, KEY);
                          } catch (InProgressException e) {
                            return false;
                          }
                        }));
            transaction.rollback();
            return first ? true : null;
          }
        });
    assertThat(complete(lock, result("first")))
        .as("complete, after the transaction that took the key over rolled back")
        .isTrue();
    StoreTests.requires(
        "I6", () -> assertDone("a key that was completed", begin(KEY), result("first")));
  }

  @Test
  @Rule("I4")
  @Sentence("a lock that ran out is accepted as long as nobody took over")
  void acceptedAfterItsEnd() {
    Lock<T> completed = started(key("completed"), soon());
    Lock<T> inTransaction = started(key("in transaction"), soon());
    Lock<T> renewed = started(key("renewed"), soon());
    Lock<T> released = started(key("released"), soon());
    Lock<T> other = started(key("other"), soon());
    awaitStarted(other.key(), endOfLock()); // so the others have ended, too
    assertThat(complete(completed, result("late"))).as("complete after the end").isTrue();
    assertThat(completeInTransaction(inTransaction, result("late")))
        .as("complete in a transaction after the end")
        .isTrue();
    assertThat(release(released, "late")).as("release after the end").isTrue();
    assertThat(renew(renewed, LONG)).as("renew after the end").isTrue();
    assertThat(complete(renewed, result("late"))).as("complete after that").isTrue();
    StoreTests.requires(
        "I6",
        () -> {
          for (Lock<T> lock : java.util.List.of(completed, inTransaction, renewed)) {
            assertDone("a key completed late", begin(lock.key()), result("late"));
          }
        });
  }

  @Test
  @Rule("I4")
  @Sentence("complete and release, repeated, say the same again, and the other one says no")
  void repeated() {
    Lock<T> completed = started(key("completed"));
    assertThat(complete(completed, result("first"))).as("complete").isTrue();
    assertThat(complete(completed, result("first"))).as("complete once more").isTrue();
    assertThat(completeInTransaction(completed, result("first")))
        .as("complete once more, in a transaction")
        .isTrue();
    assertThat(release(completed, "too late")).as("release after complete").isFalse();
    assertThat(renew(completed, LONG)).as("renew after complete").isFalse();
    Lock<T> released = started(key("released"));
    assertThat(release(released, "refused")).as("release").isTrue();
    assertThat(release(released, "refused")).as("release once more").isTrue();
    assertThat(complete(released, result("too late"))).as("complete after release").isFalse();
    assertThat(renew(released, LONG)).as("renew after release").isFalse();
  }

  @Test
  @Rule("I4")
  @Sentence("a complete whose reply was lost is carried out, and says so when it is repeated")
  void lostReply() {
    LosesReplies fixture = tck.fixture(LosesReplies.class);
    Lock<T> lock = started(KEY);
    fixture.losingTheReply(() -> lock.complete(result("r")));
    assertThat(complete(lock, result("r")))
        .as("complete once more, when the reply to the first was lost")
        .isTrue();
    StoreTests.requires(
        "I6", () -> assertDone("a key that was completed", begin(KEY), result("r")));
  }
}
