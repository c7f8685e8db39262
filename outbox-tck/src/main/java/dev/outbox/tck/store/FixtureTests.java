package dev.outbox.tck.store;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Decision;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.OpenWork;
import dev.outbox.tck.internal.Place;
import dev.outbox.tck.internal.Sentence;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.TestMethodOrder;

/** A fixture that is wrong makes every other failure hard to read. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Place(Place.FIXTURE)
@DisplayName("The fixture")
abstract class FixtureTests<T> extends StoreTests<T> {
  @Order(1)
  @Sentence("runs the work once, and rethrows what it throws")
  void runsTheWork() {
    assertRunsTheWork();
  }

  @Order(2)
  @Rule("A1")
  @Sentence("commits when the work returns")
  void commits() {
    OutboxMessage message = committed(message("k"));
    assertCame(
            "either inTransaction does not commit, or createStore() reads another database, or the store loses what is committed",
            drain())
        .inOrder(message);
  }

  @Order(3)
  @Rule("A1")
  @Sentence("rolls back when the work throws")
  void rollsBack() {
    tck.rollBack(t -> store().append(t, message("k").build()));
    assertNothingDue(
        "either inTransaction does not roll back when its work throws, or the store does not append in the caller's transaction");
  }

  @Order(5)
  @Sentence("reset removes messages, leases and remembered dedup keys")
  void resets() {
    commit(List.of(message("k").dedupKey("d").build(), message("l").build()));
    expect("claimed before reset", claim(1, LONG).messages()).hasSize(1);
    tck.reset();
    assertNothingDue("reset() leaves messages");
    OutboxMessage again = message("k").dedupKey("d").build();
    expect("reset() leaves remembered dedup keys", commit(List.of(again))).isEmpty();
    assertCame("reset() leaves leases", drain()).inOrder(again);
  }

  @Order(6)
  @Sentence("reset frees keys that wait for a retry or behind a dead letter")
  void freesKeys() {
    requires(
        "S2",
        () -> {
          committed("k", 1);
          settleFirst(claim(), Decision.retry(LONG, "refused"));
          committed("l", 1);
          settleFirst(claim(), dead(true));
        });
    tck.reset();
    committed(2, i -> i == 0 ? "k" : "l");
    assertCame("reset() leaves keys blocked", drain()).hasSize(2);
  }

  @Order(4)
  @Sentence("two transactions can be open at once")
  void opensTwo() {
    try (OpenWork<T> first = tck.open();
        OpenWork<T> second = tck.open()) {
      append(first, message("k").build());
      append(second, message("l").build());
      first.commit();
      second.commit();
    }
    assertCame("messages of two transactions that overlapped", drain()).hasSize(2);
  }
}
