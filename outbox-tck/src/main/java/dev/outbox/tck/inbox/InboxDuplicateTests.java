package dev.outbox.tck.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.TransientOutboxException;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.tck.FailsOnConflict;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.InThread;
import dev.outbox.tck.internal.OpenWork;
import dev.outbox.tck.internal.Sentence;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.opentest4j.AssertionFailedError;

@Rule("I2")
abstract class InboxDuplicateTests<T> extends InboxTests<T> {
  @Sentence("while the first is in an open transaction, firstTime waits for what becomes of it")
  void waitsForTheFirst() {
    for (boolean commits : List.of(true, false)) {
      tck.prepare();
      besideAnOpenOne(commits);
      expect("firstTime at the end", firstTime(KEY)).isFalse();
    }
  }

  /** What the second says must be what the first's end means. */
  private void besideAnOpenOne(boolean commits) {
    try (OpenWork<T> one = open();
        OpenWork<T> other = open()) {
      boolean first = one.call("firstTime", t -> store().firstTime(t, KEY));
      expect("firstTime of a new key", first).isTrue();
      other.call("firstTime", t -> store().firstTime(t, key("before")));
      CompletableFuture<Boolean> waiting = other.startWaiting(t -> store().firstTime(t, KEY));
      if (tck.is(FailsOnConflict.class)) {
        other.assertToRunAgain("firstTime", waiting);
        one.end(commits);
        expect("firstTime, when run again after the other transaction ended", firstTime(KEY))
            .isNotEqualTo(commits);
        return;
      }
      expect("firstTime of another key meanwhile", firstTime(key("beside"))).isTrue();
      one.end(commits);
      assertThat(other.get("firstTime", waiting))
          .as(
              "firstTime beside an open transaction with the same key, which then %s: nobody can know before its end whether it is the first, so it has to wait for it",
              commits ? "committed" : "rolled back")
          .isNotEqualTo(commits);
      other.call("firstTime", t -> store().firstTime(t, key("more")));
      other.commit();
    }
    expect("what the second recorded beside", firstTime(key("more"))).isFalse();
  }

  @Sentence("begin beside an open transaction that changes the key does not start before its end")
  void beginBesideAnOpenOne() {
    for (boolean commits : List.of(true, false)) {
      InboxKey key = key("commits " + commits);
      try (OpenWork<T> transaction = open()) {
        transaction.call("firstTime", t -> store().firstTime(t, key));
        Begin<T> begun = besideOpen(transaction, commits, key);
        if (commits) {
          assertDone("a key that was recorded meanwhile", begun, InboxResult.none());
        } else {
          started("a key whose record was rolled back", begun);
        }
      }
      InboxKey locked = key("locked, commits " + commits);
      Lock<T> lock = started(locked, soon());
      try (OpenWork<T> transaction = open()) {
        boolean completed = transaction.call("complete", t -> lock.complete(t, result("r")));
        requires("I4", () -> assertAccepted("complete", completed));
        letLeaseEnd();
        Begin<T> begun = besideOpen(transaction, commits, locked);
        if (commits) {
          assertDone("a key that was completed meanwhile", begun, result("r"));
        } else {
          expect("what begin says of a key whose completion was rolled back", begun)
              .isNotInstanceOf(Begin.Done.class);
        }
      }
    }
  }

  /**
   * Begins beside the transaction, and ends that. It must not have started before; whoever is told
   * that it is in progress, or that it has to run again, does so after the end.
   */
  private Begin<T> besideOpen(OpenWork<T> transaction, boolean commits, InboxKey key) {
    CompletableFuture<Boolean> begins = new CompletableFuture<>();
    CompletableFuture<Begin<T>> beside =
        new InThread<>(
            "beside",
            () -> {
              begins.complete(true);
              return store().begin(key, LONG);
            });
    boolean ignored = begins.join();
    tck.giveTime(beside);
    expect("firstTime of another key meanwhile", firstTime(key("beside " + key.messageId())))
        .isTrue();
    Begin<T> before = beside.isDone() ? said(beside) : new Begin.InProgress<>(LONG);
    check(
        before instanceof Begin.InProgress<T>,
        "begin said '%s' while a transaction that changes the key was open: nobody can know yet whether it is done",
        told(before));
    transaction.end(commits);
    Begin<T> said =
        tck.await(
            "the return of begin, after the end of the transaction beside it",
            () -> beside.isDone() ? said(beside) : null);
    return said instanceof Begin.InProgress<T> ? begin(key) : said;
  }

  /** Who is told to run again knows as much as who is told that it is in progress. */
  private static <T> Begin<T> said(CompletableFuture<Begin<T>> beside) {
    try {
      return beside.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof TransientOutboxException) {
        return new Begin.InProgress<>(LONG);
      }
      throw new AssertionFailedError(
          "begin beside an open transaction threw " + e.getCause(), e.getCause());
    }
  }
}
