package dev.outbox.tck.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.OpenWork;
import dev.outbox.tck.internal.Place;
import dev.outbox.tck.internal.Sentence;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.TestMethodOrder;

/** A fixture that is wrong makes every other failure hard to read. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Place(Place.FIXTURE)
@DisplayName("The fixture")
abstract class InboxFixtureTests<T> extends InboxTests<T> {
  @Order(1)
  @Sentence("runs the work once, and rethrows what it throws")
  void runsTheWork() {
    assertRunsTheWork();
  }

  @Order(2)
  @Rule("I1")
  @Sentence("commits when the work returns")
  void commits() {
    expect("firstTime of a new key", firstTime(KEY)).isTrue();
    assertThat(firstTime(KEY))
        .as(
            "firstTime once more: either inTransaction does not commit, or createStore() reads another database, or the inbox loses what is committed")
        .isFalse();
  }

  @Order(3)
  @Rule("I1")
  @Sentence("rolls back when the work throws")
  void rollsBack() {
    assertThat(rolledBack(t -> store().firstTime(t, KEY))).isTrue();
    assertThat(firstTime(KEY))
        .as(
            "firstTime after a rollback: either inTransaction does not roll back when its work throws, or the inbox does not record in the caller's transaction")
        .isTrue();
  }

  @Order(4)
  @Sentence("two transactions can be open at once")
  void opensTwo() {
    try (OpenWork<T> first = tck.open();
        OpenWork<T> second = tck.open()) {
      boolean ofFirst = first.call("the first", t -> true);
      boolean ofSecond = second.call("the second, beside the first", t -> true);
      expect("whether work is done in two at once", ofFirst && ofSecond).isTrue();
      first.commit();
      second.commit();
    }
  }

  @Order(5)
  @Sentence("reset removes what is done, and locks")
  void resets() {
    firstTime(key("a"));
    started(key("b"));
    tck.reset();
    expect("reset() leaves what is done", firstTime(key("a"))).isTrue();
    assertThat(started("a key that was locked: reset() leaves locks", begin(key("b"))).attempts())
        .as("reset() leaves attempts")
        .isEqualTo(1);
  }
}
