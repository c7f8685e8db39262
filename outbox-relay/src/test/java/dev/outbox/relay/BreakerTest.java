package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.relay.Breaker.Admission;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class BreakerTest {
  private static final long MS = 1_000_000;
  private static final Result DOWN = Result.unavailable("no broker");

  private final Recorder events = new Recorder();
  private final Breaker breaker = new Breaker("relay", 10, () -> 0, events);
  private final Verdicts verdicts =
      new Verdicts("relay/0", RetryPolicy.ofDefaults(), Set.of(), new Destinations(), events);

  private Batch batch(Result... results) {
    List<StoredMessage> messages = new ArrayList<>();
    for (int i = 0; i < results.length; i++) {
      messages.add(Samples.stored(i, "key" + i));
    }
    Batch batch =
        new Batch(messages, verdicts, new OperatorPauses("relay", null, events, System::nanoTime));
    batch.published(List.of(results), 0);
    return batch;
  }

  private void round(long ms, Result... results) {
    Admission admission = breaker.admit(ms * MS);
    assertThat(admission.most()).as("admitted at " + ms).isPositive();
    breaker.done(admission, batch(results), ms * MS);
  }

  private int most(long ms) {
    return breaker.admit(ms * MS).most();
  }

  @Test
  void staysClosedOnEverythingButAnUnavailableBroker() {
    round(0, Result.failed("a"));
    round(0, Result.rejected("b"));
    round(0, Result.unavailable("c", "topic"));
    assertThat(breaker.closed()).isTrue();
    assertThat(most(0)).isEqualTo(10);
    assertThat(events.of("opened")).isEmpty();
  }

  @Test
  void pausesLongerEachTimeThenTestsWithMoreMessages() {
    round(0, DOWN);
    assertThat(most(99)).isZero();
    assertThat(breaker.admit(40 * MS).askAgain()).isEqualTo(60 * MS);
    round(100, DOWN);
    assertThat(most(299)).isZero();
    assertThat(breaker.admit(300 * MS)).isEqualTo(new Admission(4, true, 0, 400 * MS));
    assertThat(events.of("opened")).containsExactly("opened no broker");
  }

  @Test
  void oneWorkerTestsAtATime() {
    Admission early = breaker.admit(0);
    round(0, DOWN);
    Admission test = breaker.admit(100 * MS);
    assertThat(most(100)).isZero();
    breaker.done(early, batch(Result.delivered()), 100 * MS);
    assertThat(most(100)).as("while the test is under way").isZero();
    assertThat(breaker.admit(100 * MS).askAgain()).isPositive();
    breaker.done(test, null, 100 * MS);
    assertThat(most(100)).as("after a test that brought nothing").isEqualTo(1);
  }

  @Test
  void closesOnceSomethingIsDelivered() {
    round(0, DOWN);
    round(100, Result.delivered());
    assertThat(breaker.closed()).isTrue();
    assertThat(events.all()).endsWith("closed");
    round(200, DOWN);
    assertThat(most(299)).as("begins with the first pause again").isZero();
    assertThat(most(300)).isEqualTo(1);
  }

  @Test
  void testsGrowWhileOthersTroublesAreInTheWay() {
    round(0, DOWN);
    round(100, Result.failed("its own fault"));
    Admission larger = breaker.admit(100 * MS);
    assertThat(larger.most()).isEqualTo(4);
    breaker.done(larger, batch(Result.unavailable("x", "topic")), 100 * MS);
    round(100, Result.failed("its own fault"));
    assertThat(breaker.closed()).as("a whole batch, and the broker answered").isTrue();
    round(200, DOWN);
    assertThat(most(299)).as("begins with the first pause again").isZero();
    assertThat(most(300)).isEqualTo(1);
  }

  @Test
  void whatWaitsForItsTurnSaysNothingOfTheBroker() {
    Result later = new Result.Unavailable("its turn", "the limit of x", Duration.ofSeconds(1));
    round(0, DOWN);
    for (int most : List.of(1, 4, 10, 10)) {
      assertThat(most(100)).as("tests grow: others may be behind").isEqualTo(most);
      breaker.done(new Admission(most, true, 0, 0), batch(later, later), 100 * MS);
      assertThat(breaker.closed()).isFalse();
    }
    round(100, DOWN);
    assertThat(most(299)).as("the pauses go on").isZero();
    assertThat(events.of("closed")).isEmpty();
    round(300, later, Result.delivered());
    assertThat(breaker.closed()).isTrue();
  }

  @Test
  void whatHappensIsToldInItsOrderAlsoWhereTheListenerIsSlow() throws InterruptedException {
    SlowListener slow = new SlowListener(RelayEvent.BreakerOpened.class, events);
    Breaker shared = new Breaker("relay", 10, () -> 0, slow);
    Batch down = batch(DOWN);
    Thread opens = new Thread(() -> shared.done(shared.admit(0), down, 0));
    opens.start();
    slow.awaitTold();
    Admission test = shared.admit(100 * MS);
    Thread closes = new Thread(() -> shared.done(test, batch(Result.delivered()), 100 * MS));
    closes.start();
    Waits.await().until(() -> shared.closed() && closes.getState() != Thread.State.RUNNABLE);
    slow.goOn();
    opens.join();
    closes.join();
    assertThat(events.all())
        .filteredOn(event -> !event.startsWith("unavailable"))
        .containsExactly("opened no broker", "closed");
  }

  @Test
  void aLateResultOfAnotherWorkerChangesNothing() {
    Admission early = breaker.admit(0);
    Admission late = breaker.admit(0);
    breaker.done(early, batch(DOWN), 0);
    breaker.done(late, batch(DOWN), 90 * MS);
    assertThat(most(100)).as("not opened a second time").isEqualTo(1);
  }

  @Test
  void whatIsDeliveredShowsThatTheBrokerIsThereWhateverElseIsSaid() {
    round(0, Result.delivered(), DOWN);
    assertThat(breaker.closed()).isTrue();
    round(0, DOWN);
    assertThat(breaker.closed()).isFalse();
    round(100, Result.delivered(), DOWN);
    assertThat(breaker.closed()).isTrue();
  }

  @Test
  void failedTestsGrowToATenthOfThousandMessages() {
    Breaker large = new Breaker("relay", 1_000, () -> 0, events);
    List<Integer> sizes = new ArrayList<>();
    large.done(large.admit(0), batch(DOWN), 0);
    for (long now = 0; sizes.size() < 6; now += 10_000 * MS) {
      Admission test = large.admit(now + 10_000 * MS);
      sizes.add(test.most());
      large.done(test, batch(DOWN), now);
    }
    assertThat(sizes).containsExactly(1, 4, 16, 64, 100, 100);
  }

  @Test
  void thousandsOfFailedTestsPauseAtMostTheLongest() {
    long now = 0;
    round(now, DOWN);
    for (int i = 0; i < 5_000; i++) {
      now += 5_000;
      round(now, DOWN);
    }
    round(now + 5_000, Result.delivered());
    assertThat(events.all()).contains("opened no broker", "closed");
    assertThat(breaker.closed()).isTrue();
  }
}
