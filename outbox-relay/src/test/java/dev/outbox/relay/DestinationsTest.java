package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class DestinationsTest {
  private static final long MS = 1_000_000;
  private final Destinations destinations = new Destinations();

  private Duration report(String destination, long ms) {
    return report(destination, 1, ms);
  }

  private Duration report(String destination, long sequence, long ms) {
    return destinations.unavailable(destination, "order", sequence, ms * MS);
  }

  /** Of a message that did not report anything. */
  private void delivered(String aggregateType, long ms) {
    destinations.delivered(aggregateType, 99, ms * MS);
  }

  @Test
  void doublesOnceInTheTimeOfADelayUpToTheLongest() {
    assertThat(report("a", 0)).hasMillis(500);
    assertThat(report("a", 1)).as("the same outage").hasMillis(500);
    assertThat(report("a", 499)).hasMillis(500);
    assertThat(report("a", 500)).hasMillis(1_000);
    assertThat(report("a", 1_499)).hasMillis(1_000);
    long now = 1_500;
    for (int i = 0; i < 10; i++, now += 30_000) {
      report("a", now);
    }
    assertThat(report("a", now)).hasMillis(30_000);
  }

  @Test
  void keepsDestinationsApart() {
    report("a", 0);
    assertThat(report("a", 500)).hasMillis(1_000);
    assertThat(report("b", 500)).hasMillis(500);
  }

  @Test
  void thoseThatAreTooManyShareADelay() {
    for (int i = 0; i < Destinations.MOST; i++) {
      report("a" + i, 0);
    }
    assertThat(report("b", 0)).hasMillis(500);
    assertThat(report("c", 500)).hasMillis(1_000);
    assertThat(report("a1", 500)).hasMillis(1_000);
    delivered("customer", 600);
    assertThat(destinations.isAlone("c", 700 * MS)).isTrue();
  }

  @Test
  void remembersADeadPartitionWhileOthersOfItsTypeDeliver() {
    report("a", 0);
    delivered("order", 1);
    assertThat(report("a", 500)).hasMillis(1_000);
    delivered("order", 501);
    assertThat(report("a", 1_500)).hasMillis(2_000);
  }

  @Test
  void forgetsWhatIsDeliveredWhenNoneWasReportedInTime() {
    report("a", 0);
    report("a", 500);
    delivered("order", 500 + 1_000 + 30_000);
    assertThat(report("a", 500 + 31_000)).as("too early to tell").hasMillis(2_000);
    delivered("customer", 31_500 + 2_000 + 30_001);
    assertThat(report("a", 31_500 + 32_001)).as("of another type").hasMillis(4_000);
    delivered("order", 63_501 + 4_000 + 30_001);
    assertThat(report("a", 63_501 + 34_002)).hasMillis(500);
  }

  @Test
  void forgetsWhatDeliversTheMessageThatReportedItLast() {
    report("a", 7, 0);
    report("a", 8, 500);
    destinations.delivered("order", 7, 501 * MS);
    assertThat(report("a", 9, 1_500)).as("8 was not delivered").hasMillis(2_000);
    destinations.delivered("order", 9, 3_500 * MS);
    assertThat(report("a", 10, 3_501)).hasMillis(500);
  }

  @Test
  void isAloneWhileOthersWereReachedLately() {
    delivered("customer", 1_000);
    report("a", 1_000);
    assertThat(destinations.isAlone("a", 30_999 * MS)).isTrue();
    assertThat(destinations.isAlone("a", 31_000 * MS)).as("30 seconds later").isFalse();
    assertThat(destinations.isAlone("b", 1_000 * MS)).as("not in trouble").isFalse();
  }

  @Test
  void forgetsWhatIsNotReportedForLong() {
    report("a", 0);
    report("a", 500);
    assertThat(report("a", 500 + 120_000)).as("just remembered").hasMillis(2_000);
    assertThat(report("a", 500 + 120_000 + 120_001)).hasMillis(500);
  }
}
