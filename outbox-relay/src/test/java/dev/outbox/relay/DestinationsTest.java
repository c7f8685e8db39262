package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class DestinationsTest {
  private static final long MS = 1_000_000;
  private final Destinations destinations = new Destinations();

  private Duration report(String destination, long ms) {
    return destinations.unavailable(destination, "order", ms * MS);
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
  void remembersADeadPartitionWhileOthersOfItsTypeDeliver() {
    report("a", 0);
    destinations.delivered("order", 1 * MS);
    assertThat(report("a", 500)).hasMillis(1_000);
    destinations.delivered("order", 501 * MS);
    assertThat(report("a", 1_500)).hasMillis(2_000);
  }

  @Test
  void forgetsWhatIsDeliveredWhenNoneWasReportedInTime() {
    report("a", 0);
    report("a", 500);
    destinations.delivered("order", (500 + 1_000 + 30_000) * MS);
    assertThat(report("a", 500 + 31_000)).as("too early to tell").hasMillis(2_000);
    destinations.delivered("customer", (31_500 + 2_000 + 30_001) * MS);
    assertThat(report("a", 31_500 + 32_001)).as("of another type").hasMillis(4_000);
    destinations.delivered("order", (63_501 + 4_000 + 30_001) * MS);
    assertThat(report("a", 63_501 + 34_002)).hasMillis(500);
  }

  @Test
  void forgetsWhatIsNotReportedForLong() {
    report("a", 0);
    report("a", 500);
    assertThat(report("a", 500 + 120_000)).as("just remembered").hasMillis(2_000);
    assertThat(report("a", 500 + 120_000 + 120_001)).hasMillis(500);
  }
}
