package dev.outbox.tck.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.outbox.NoTransactionException;
import dev.outbox.TransientOutboxException;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.FailsOnConflict;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.InThread;
import dev.outbox.tck.internal.OpenWork;
import dev.outbox.tck.internal.Sentence;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.opentest4j.AssertionFailedError;

/** I1 and I2. */
@Rule("I1")
abstract class InboxRecordTests<T> extends InboxTests<T> {

  /** Each looks like another, and none is another. */
  private static final List<String> LOOKALIKES =
      List.of("m", "M", "m ", " m", "m\t", "m/m", "caf\u00E9", "cafe\u0301", "\u00DF", "ss");

  @Sentence("firstTime says true once, and the transaction goes on")
  void once() {
    expect(
            "firstTime of a key, of the same one in the same transaction, of another one",
            said(KEY, KEY, key("other")))
        .containsExactly(true, false, true);
    expect(
            "firstTime of the key in a later transaction, and of a new one after it",
            said(KEY, key("third")))
        .containsExactly(false, true);
    expect("firstTime of the other key, later", firstTime(key("other"))).isFalse();
    expect("firstTime of the third key, later", firstTime(key("third"))).isFalse();
  }

  /** What firstTime says of each, in one transaction. */
  private List<Boolean> said(InboxKey... keys) {
    return tck.commit(t -> Stream.of(keys).map(key -> store().firstTime(t, key)).toList());
  }

  @Sentence("keys that look alike are different keys")
  void differentKeys() {
    Stream<InboxKey> keys =
        Stream.concat(
            LOOKALIKES.stream().map(text -> new InboxKey("shipping", text)),
            LOOKALIKES.stream().map(text -> new InboxKey(text, "m")));
    assertThat(keys.filter(key -> !firstTime(key)).map(InboxRecordTests::shown))
        .as("keys that the inbox takes for one before them, which only looks like them")
        .isEmpty();
  }

  @Sentence("whatever a key has in it, up to 255 characters, it is found again")
  void hostileKeys() {
    List<String> texts = new ArrayList<>(NASTY);
    texts.addAll(List.of("\uFFFF", "'".repeat(255), "\u4E2D".repeat(255)));
    for (String text : texts) {
      InboxKey key = new InboxKey(text, text);
      expect("firstTime of %s".formatted(shown(key)), firstTime(key)).isTrue();
      expect("firstTime of %s once more".formatted(shown(key)), firstTime(key)).isFalse();
      assertDone(shown(key), begin(key), InboxResult.none());
    }
  }

  private static String shown(InboxKey key) {
    return shown(key.consumer()) + ": " + shown(key.messageId());
  }

  @Sentence("without a transaction firstTime and complete are refused, and nothing is written")
  void noTransaction() {
    AutoCommit<T> fixture = tck.fixture(AutoCommit.class);
    Lock<T> lock = started(key("locked"));
    assertRefused("firstTime", () -> fixture.withoutTransaction(t -> store().firstTime(t, KEY)));
    expect("firstTime, after one that was refused", firstTime(KEY)).isTrue();
    assertRefused(
        "complete", () -> fixture.withoutTransaction(t -> lock.complete(t, result("refused"))));
    expect("complete, after one that was refused", lock.complete(result("accepted"))).isTrue();
    assertDone("a key that was completed", begin(key("locked")), result("accepted"));
  }

  private static void assertRefused(String what, Runnable action) {
    expect("%s without a transaction".formatted(what), catchThrowable(action::run))
        .isInstanceOf(NoTransactionException.class)
        .satisfies(e -> assertThat(e.getMessage()).hasSizeBetween(20, 500));
  }

  @Sentence("complete in a transaction counts if and only if that commits")
  void completeInTransaction() {
    Lock<T> lock = started(KEY);
    assertThat(rolledBack(t -> lock.complete(t, result("rolled back"))))
        .as("complete in a transaction that rolls back later")
        .isTrue();
    assertThat(completeInTransaction(lock, result("committed")))
        .as("complete, after a transaction that completed rolled back")
        .isTrue();
    assertDone("a key that was completed", begin(KEY), result("committed"));
    requires(
        "I4",
        () ->
            assertThat(rolledBack(t -> lock.complete(t, result("committed"))))
                .as("complete once more, in another transaction")
                .isTrue());
    assertDone("a key that was completed before", begin(KEY), result("committed"));
  }

  @Rule("I2")
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
    try (OpenWork<T> one = tck.open();
        OpenWork<T> other = tck.open()) {
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

  @Rule("I2")
  @Sentence("begin beside an open transaction that changes the key does not start before its end")
  void beginBesideAnOpenOne() {
    for (boolean commits : List.of(true, false)) {
      InboxKey key = key("commits " + commits);
      try (OpenWork<T> transaction = tck.open()) {
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
      try (OpenWork<T> transaction = tck.open()) {
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
    begins.join();
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
