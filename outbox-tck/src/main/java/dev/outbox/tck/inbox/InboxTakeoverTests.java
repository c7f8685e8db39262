package dev.outbox.tck.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.Inbox.InProgressException;
import dev.outbox.inbox.InboxResult;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.OpenWork;
import dev.outbox.tck.internal.Sentence;

@Rule("I4")
abstract class InboxTakeoverTests<T> extends InboxTests<T> {
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
          try (OpenWork<T> transaction = open()) {
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
