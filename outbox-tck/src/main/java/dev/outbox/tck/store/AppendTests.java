package dev.outbox.tck.store;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.outbox.Appended;
import dev.outbox.NoTransactionException;
import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.FailsOnConflict;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.OpenWork;
import dev.outbox.tck.internal.Sentence;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** A1, A2 and A4. */
@Rule("A4")
abstract class AppendTests<T> extends StoreTests<T> {
  @Rule("A1")
  @Sentence("what is not committed yet is not claimed; once committed, it is")
  void becomesVisibleAtCommit() {
    OutboxMessage message = message("k").build();
    try (OpenWork<T> transaction = tck.open()) {
      append(transaction, message);
      assertNothingDue("claimed before its transaction committed");
      transaction.commit();
    }
    assertCame("claimed after the commit", drain()).inOrder(message);
  }

  @Rule("A2")
  @Sentence("append leaves the transaction open, so that the caller can go on and roll back")
  void doesNotEndTheTransaction() {
    tck.rollBack(
        t -> {
          store().append(t, message("k").dedupKey("d").build());
          return store().append(t, message("k").build());
        });
    assertNothingDue("rolled back after two appends");
  }

  @Rule("A2")
  @Sentence("append without an active transaction is refused, and writes nothing")
  void refusesAutoCommit() {
    AutoCommit<T> fixture = tck.fixture(AutoCommit.class);
    fixture.withoutTransaction(
        t ->
            assertThatThrownBy(
                    () -> store().append(t, List.of(message("k").build())),
                    "append without an active transaction")
                .isInstanceOf(NoTransactionException.class)
                .satisfies(e -> assertThat(e.getMessage()).isNotBlank()));
    assertNothingDue("written without a transaction");
  }

  @Rule("A2")
  @Sentence("append in a read-only transaction fails with a sentence, and writes nothing")
  void failsWhenReadOnly() {
    ReadOnlyTransactions<T> fixture = tck.fixture(ReadOnlyTransactions.class);
    List<Throwable> thrown = new ArrayList<>();
    OutboxMessage message = message("k").build();
    try {
      fixture.inReadOnlyTransaction(
          t -> thrown.add(catchThrowable(() -> store().append(t, List.of(message)))));
    } catch (RuntimeException e) {
      expect("inReadOnlyTransaction failed before append: " + e, thrown).isNotEmpty();
    }
    expect("what append threw", thrown).hasSize(1);
    expect("append in a read-only transaction", thrown.get(0))
        .isInstanceOf(OutboxException.class)
        .hasMessageMatching("(?is).*read.?only.*");
    assertNothingDue("written in a read-only transaction");
  }

  private static OutboxMessage dedup(String key, String dedupKey) {
    return message(key).dedupKey(dedupKey).build();
  }

  @Sentence("a dedup key that was appended before is not stored again, and the transaction goes on")
  void duplicate() {
    OutboxMessage first = dedup("k", "d");
    expect("duplicates of the first append", commit(List.of(first))).isEmpty();
    OutboxMessage again = dedup("other key", "d");
    OutboxMessage other = message("k").build();
    expect("duplicates of the second append", commit(List.of(again, other)))
        .containsExactly(again.id());
    assertCame("what was stored and comes", drain()).inAnyOrder(first, other);
    OutboxMessage late = dedup("k", "d");
    expect("duplicates, after the first message was delivered", commit(List.of(late)))
        .containsExactly(late.id());
    assertNothingDue("a duplicate");
  }

  @Sentence("duplicates within one transaction are found too, and append says what it stored")
  void withinOneTransaction() {
    OutboxMessage first = dedup("k", "d");
    OutboxMessage second = dedup("k", "d");
    OutboxMessage third = dedup("k", "d");
    OutboxMessage different = dedup("k", "e");
    List<Appended> said =
        tck.commit(
            t ->
                List.of(
                    store().append(t, List.of(first, different, second)),
                    store().append(t, List.of(third))));
    assertThat(said)
        .as("duplicates of two appends in one transaction")
        .extracting(Appended::duplicates)
        .containsExactly(Set.of(second.id()), Set.of(third.id()));
    expect("what the first append says it stored", said.get(0).stored())
        .containsExactlyInAnyOrder(first.id(), different.id());
    List<StoredMessage> came = drain();
    assertCame("what was stored and comes", came).inOrder(first, different);
    Map<UUID, Long> sequences = new HashMap<>();
    came.forEach(m -> sequences.put(m.message().id(), m.sequence()));
    if (!said.get(0).sequences().isEmpty()) { // it knows them
      expect("the sequences that append named, against those that came", said.get(0).sequences())
          .isEqualTo(sequences);
    }
  }

  @Sentence("dedup keys that differ in case, spaces or normal form are different")
  void differentDedupKeys() {
    List<OutboxMessage> messages =
        Stream.of("d", "D", "d ", " d", "caf\u00E9", "cafe\u0301")
            .map(dedupKey -> dedup("k", dedupKey))
            .toList();
    Set<UUID> duplicates = commit(messages);
    assertThat(
            messages.stream()
                .filter(message -> duplicates.contains(message.id()))
                .map(message -> shown(requireNonNull(message.dedupKey()))))
        .as("dedup keys that the store takes for one before them, which only looks like them")
        .isEmpty();
    assertCame("what was stored and comes", drain()).inOrder(messages);
  }

  @Sentence("while the first is in an open transaction, append waits for what becomes of it")
  void waitsForTheFirst() {
    for (boolean commits : List.of(true, false)) {
      tck.prepare();
      besideAnOpenOne(commits);
    }
  }

  /** What the second says must be what the first's end means. */
  private void besideAnOpenOne(boolean commits) {
    OutboxMessage first = dedup("k", "d");
    OutboxMessage second = dedup("k", "d");
    OutboxMessage stored = commits ? first : second;
    String ended = commits ? "committed" : "rolled back";
    try (OpenWork<T> one = tck.open();
        OpenWork<T> other = tck.open()) {
      append(one, first);
      OutboxMessage before = message("before").build();
      append(other, before);
      CompletableFuture<Set<UUID>> waiting =
          other.startWaiting(t -> store().append(t, List.of(second)).duplicates());
      if (tck.is(FailsOnConflict.class)) {
        other.assertToRunAgain("append", waiting);
        one.end(commits);
        assertThat(commit(List.of(second)))
            .as("duplicates, when run again after the other transaction %s", ended)
            .isEqualTo(commits ? Set.of(second.id()) : Set.of());
        assertCame("what was stored and comes", drain()).inOrder(stored);
        return;
      }
      OutboxMessage meanwhile = committed(message("l"));
      one.end(commits);
      boolean duplicate = !other.get("append", waiting).isEmpty();
      check(
          duplicate || !commits,
          "append stored a message beside an open transaction with the same dedup key, which then committed: nobody can know before its end whether it is a duplicate, so append has to wait for it");
      assertThat(duplicate)
          .as("whether it is a duplicate, after the other transaction %s", ended)
          .isEqualTo(commits);
      OutboxMessage more = message("k").build();
      append(other, more);
      other.commit();
      assertCame("what was stored and comes", drain()).inAnyOrder(stored, before, meanwhile, more);
    }
  }

  @Sentence("after the dedup window, a dedup key can be used again")
  void window() {
    DedupWindows<T> fixture = tck.fixture(DedupWindows.class);
    OutboxStore<T> store = fixture.createStore(tck.shortTime());
    tck.use(store);
    OutboxMessage first = dedup("k", "d");
    tck.commit(t -> store.append(t, List.of(first)));
    await(
        "the end of the dedup window",
        () -> {
          store.housekeep();
          boolean stored = tck.commit(t -> store.append(t, dedup("k", "d")).allStored());
          return stored ? true : null;
        });
    assertCame("what was stored and comes", drain()).hasSize(2);
  }
}
