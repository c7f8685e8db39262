package dev.outbox.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.HousekeepingStore;
import dev.outbox.spi.OutboxStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A4. */
abstract class DuplicateTests<T> extends StoreTests<T> {
  DuplicateTests(OutboxStoreTck<T> tck) {
    super(tck);
  }

  private static OutboxMessage dedup(String key, String dedupKey) {
    return message(key).dedupKey(dedupKey).build();
  }

  @Test
  @Rule("A4")
  @DisplayName(
      "a dedup key that was appended before is not stored again, and the transaction goes on")
  void duplicate() {
    OutboxMessage first = dedup("k", "d");
    assertThat(commit(List.of(first))).as("duplicates of the first append").isEmpty();
    OutboxMessage again = dedup("other key", "d");
    OutboxMessage other = message("k").build();
    assertThat(commit(List.of(again, other)))
        .as("duplicates of the second append")
        .containsExactly(again.id());
    assertThat(ids(drain()))
        .as("what was stored and comes")
        .containsExactlyInAnyOrder(first.id(), other.id());
  }

  @Test
  @Rule("A4")
  @DisplayName("a dedup key is remembered after its message was delivered")
  void rememberedAfterDelivery() {
    commit(List.of(dedup("k", "d")));
    drain();
    OutboxMessage again = dedup("k", "d");
    assertThat(commit(List.of(again)))
        .as("duplicates, after the first message was delivered")
        .containsExactly(again.id());
    assertNothingDue("a duplicate");
  }

  @Test
  @Rule("A4")
  @DisplayName("duplicates within one append and within one transaction are found too")
  void withinOneTransaction() {
    OutboxMessage first = dedup("k", "d");
    OutboxMessage second = dedup("k", "d");
    OutboxMessage third = dedup("k", "d");
    OutboxMessage different = dedup("k", "e");
    List<Set<UUID>> duplicates = new ArrayList<>();
    run(
        "append",
        () ->
            tck.inTransaction(
                t -> {
                  duplicates.add(store().append(t, List.of(first, different, second)));
                  duplicates.add(store().append(t, List.of(third)));
                }));
    assertThat(duplicates)
        .as("duplicates of two appends in one transaction")
        .containsExactly(Set.of(second.id()), Set.of(third.id()));
    assertThat(ids(drain()))
        .as("what was stored and comes")
        .containsExactly(first.id(), different.id());
  }

  @Test
  @Rule("A4")
  @DisplayName("dedup keys that differ in case, spaces or normal form are different")
  void differentKeys() {
    List<OutboxMessage> messages =
        List.of(
            dedup("k", "d"),
            dedup("k", "D"),
            dedup("k", "d "),
            dedup("k", " d"),
            dedup("k", "caf\u00E9"),
            dedup("k", "cafe\u0301"));
    assertThat(commit(messages)).as("duplicates among different dedup keys").isEmpty();
    assertThat(ids(drain()))
        .as("what was stored and comes")
        .containsExactlyElementsOf(idsOf(messages));
  }

  @Test
  @Rule("A4")
  @DisplayName("messages without a dedup key are never duplicates")
  void withoutDedupKey() {
    assertThat(commit(List.of(message("k").build(), message("k").build()))).isEmpty();
    assertThat(drain()).as("what was stored and comes").hasSize(2);
  }

  @Test
  @Rule("A4")
  @DisplayName("a dedup key that was rolled back can be used again")
  void rolledBack() {
    try (OpenTransaction<T> transaction = open()) {
      transaction.append(dedup("k", "d"));
      transaction.rollback();
    }
    OutboxMessage again = dedup("k", "d");
    assertThat(commit(List.of(again))).as("duplicates, after the first rolled back").isEmpty();
    assertThat(ids(drain())).as("what was stored and comes").containsExactly(again.id());
  }

  @Test
  @Rule("A4")
  @DisplayName("while the first is in an open transaction, append waits; it commits: a duplicate")
  void waitsForCommit() {
    OutboxMessage first = dedup("k", "d");
    OutboxMessage second = dedup("k", "d");
    try (OpenTransaction<T> one = open();
        OpenTransaction<T> other = open()) {
      one.append(first);
      CompletableFuture<Set<UUID>> waiting = other.startAppend(List.of(second));
      if (tck instanceof FailsOnConflict fixture) {
        assertToRunAgain(fixture, other, waiting);
        one.commit();
        assertThat(commit(List.of(second)))
            .as("duplicates, when run again after the other transaction committed")
            .containsExactly(second.id());
        return;
      }
      OutboxMessage meanwhile = committed(message("l"));
      assertThat(waiting.isDone())
          .as("append returned before the transaction with the same dedup key ended")
          .isFalse();
      one.commit();
      assertThat(other.get("append", waiting))
          .as("duplicates, after the other transaction committed")
          .containsExactly(second.id());
      OutboxMessage more = message("k").build();
      other.append(more);
      other.commit();
      assertThat(ids(drain()))
          .as("what was stored and comes")
          .containsExactlyInAnyOrder(first.id(), meanwhile.id(), more.id());
    }
  }

  @Test
  @Rule("A4")
  @DisplayName("while the first is in an open transaction, append waits; it rolls back: stored")
  void waitsForRollback() {
    OutboxMessage second = dedup("k", "d");
    try (OpenTransaction<T> one = open();
        OpenTransaction<T> other = open()) {
      one.append(dedup("k", "d"));
      CompletableFuture<Set<UUID>> waiting = other.startAppend(List.of(second));
      if (tck instanceof FailsOnConflict fixture) {
        assertToRunAgain(fixture, other, waiting);
        one.rollback();
        assertThat(commit(List.of(second)))
            .as("duplicates, when run again after the other transaction rolled back")
            .isEmpty();
        assertThat(ids(drain())).as("what was stored and comes").containsExactly(second.id());
        return;
      }
      committed(message("l"));
      one.rollback();
      assertThat(other.get("append", waiting))
          .as("duplicates, after the other transaction rolled back")
          .isEmpty();
      other.commit();
    }
    assertThat(ids(drain())).as("what was stored and comes").contains(second.id());
  }

  private void assertToRunAgain(
      FailsOnConflict fixture,
      OpenTransaction<T> transaction,
      CompletableFuture<Set<UUID>> append) {
    Throwable failure = transaction.get("append", append.handle((duplicates, failed) -> failed));
    assertThat(failure)
        .as("an append that meets the dedup key of another open transaction, and cannot wait")
        .isNotNull()
        .matches(fixture::isToRunAgain, "says that the whole transaction has to run again");
    transaction.awaitFailed();
  }

  @Test
  @Rule("A4")
  @DisplayName("after the dedup window, a dedup key can be used again")
  void window() {
    DedupWindows<T> fixture = tck.fixture(DedupWindows.class);
    OutboxStore<T> store = fixture.createStore(tck.shortTime());
    tck.use(store);
    OutboxMessage first = dedup("k", "d");
    run("append", () -> tck.inTransaction(t -> store.append(t, List.of(first))));
    await(
        "the end of the dedup window",
        () -> {
          if (store instanceof HousekeepingStore housekeeping) {
            housekeeping.housekeep();
          }
          List<Boolean> stored = new ArrayList<>();
          tck.inTransaction(t -> stored.add(store.append(t, dedup("k", "d"))));
          return stored.get(0) ? true : null;
        });
    assertThat(drain()).as("what was stored and comes").hasSize(2);
  }
}
