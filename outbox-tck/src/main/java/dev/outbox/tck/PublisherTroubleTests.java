package dev.outbox.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.ReachablePublisher;
import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** P3, P5 and P6: what a publisher says and does when something is wrong. */
abstract class PublisherTroubleTests extends PublisherTests {
  private static final Duration BUSY_MACHINE = Duration.ofSeconds(5);

  PublisherTroubleTests(PublisherTck tck) {
    super(tck);
  }

  @Test
  @Rule("P3")
  @DisplayName("a message that the broker never takes is rejected, and the others are delivered")
  void rejected() {
    PublisherTck.BrokerRejects broker = tck.fixture(PublisherTck.BrokerRejects.class);
    List<Result> results =
        tck.publish(
            tck.batch(tck.message("a"), broker.rejected(tck.message("bad")), tck.message("b")));
    assertThat(results.get(1))
        .as("the result of a message that the broker never takes")
        .isInstanceOf(Result.Rejected.class);
    assertThat(List.of(results.get(0), results.get(2)))
        .as("the results of the messages beside it")
        .containsOnly(Result.DELIVERED);
  }

  @Test
  @Rule("P3")
  @DisplayName("a missing destination is unavailable by name, and the others are delivered")
  void missing() {
    PublisherTck.DestinationMissing broker = tck.fixture(PublisherTck.DestinationMissing.class);
    for (int call = 0; call < 5; call++) {
      List<Result> results =
          tck.publish(
              tck.batch(tck.message("a"), broker.toMissing(tck.message("bad")), tck.message("b")));
      assertThat(results.get(1))
          .as("the result of a message to a missing destination, call %d", call)
          .isInstanceOf(Result.Unavailable.class);
      assertThat(((Result.Unavailable) results.get(1)).destination())
          .as("the destination that is missing; null would stop all others, call %d", call)
          .isNotNull();
      assertThat(List.of(results.get(0), results.get(2)))
          .as("the results of the messages beside it, call %d", call)
          .containsOnly(Result.DELIVERED);
    }
  }

  @Test
  @Rule("P3")
  @DisplayName("while the broker is stopped all is unavailable, and afterwards it is delivered")
  void stopped() {
    PublisherTck.BrokerStops broker = tck.fixture(PublisherTck.BrokerStops.class);
    tck.publish(tck.batch(tck.message("a")));
    broker.stopBroker();
    List<StoredMessage> messages = tck.batch(tck.message("a"), tck.message("b"), tck.message("a"));
    List<Result> results;
    try {
      results = tck.publish(messages);
    } finally {
      broker.startBroker();
    }
    assertThat(results)
        .as("the results while the broker is stopped: an outage is nobody's fault")
        .hasSize(3)
        .allSatisfy(
            r -> {
              assertThat(r).isInstanceOf(Result.Unavailable.class);
              assertThat(((Result.Unavailable) r).destination())
                  .as("the destination; null says that it is the broker as a whole")
                  .isNull();
            });
    tck.publishUntilDelivered(messages);
    assertThat(PublisherTck.ids(tck.await(r -> r.size() >= 4)))
        .as("what arrived after the broker was started again")
        .containsAll(messages.stream().map(PublisherTck::id).toList());
  }

  @Test
  @Rule("P5")
  @DisplayName("while the broker hangs publish returns in time, and delivers afterwards")
  void hangs() {
    PublisherTck.BrokerHangs broker = tck.fixture(PublisherTck.BrokerHangs.class);
    tck.publish(tck.batch(tck.message("a")));
    List<StoredMessage> messages = tck.batch(tck.message("a"), tck.message("b"));
    broker.pauseBroker();
    List<Result> results;
    Duration took;
    try {
      long start = System.nanoTime();
      results = tck.publish(messages);
      took = Duration.ofNanos(System.nanoTime() - start);
    } finally {
      broker.resumeBroker();
    }
    assertThat(took)
        .as("how long publish took while the broker hung")
        .isLessThan(tck.timeout().plus(BUSY_MACHINE));
    assertThat(results).as("the results while the broker hangs").doesNotContain(Result.DELIVERED);
    tck.publishUntilDelivered(messages);
  }

  @Test
  @Rule("P6")
  @DisplayName("a broker that answers is reached, and the address is said")
  void reachable() throws InterruptedException {
    ReachablePublisher publisher = tck.reachable();
    assertThat(publisher.unreachable(tck.patience())).as("why it cannot be reached").isEmpty();
    assertThat(publisher.address()).as("the broker's address").isNotBlank();
  }

  @Test
  @Rule("P6")
  @DisplayName("a broker that is stopped cannot be reached, and is once it is back")
  void unreachable() throws InterruptedException {
    PublisherTck.BrokerStops broker = tck.fixture(PublisherTck.BrokerStops.class);
    ReachablePublisher publisher = tck.reachable();
    broker.stopBroker();
    try {
      assertThat(publisher.unreachable(Duration.ofSeconds(1)))
          .as("why a broker that is stopped cannot be reached")
          .isPresent();
    } finally {
      broker.startBroker();
    }
    long end = System.nanoTime() + tck.patience().toNanos();
    Optional<String> trouble = publisher.unreachable(tck.patience());
    while (trouble.isPresent() && System.nanoTime() - end < 0) {
      trouble = publisher.unreachable(tck.patience());
    }
    assertThat(trouble).as("why it cannot be reached").isEmpty();
  }

  @Test
  @Rule("P6")
  @DisplayName("a broker that hangs cannot be reached, which is said in the time it has")
  void unreachableInTime() throws InterruptedException {
    PublisherTck.BrokerHangs broker = tck.fixture(PublisherTck.BrokerHangs.class);
    ReachablePublisher publisher = tck.reachable();
    broker.pauseBroker();
    try {
      long before = System.nanoTime();
      assertThat(publisher.unreachable(Duration.ofSeconds(1)))
          .as("why a broker that hangs cannot be reached")
          .isPresent();
      assertThat(Duration.ofNanos(System.nanoTime() - before))
          .isLessThan(Duration.ofSeconds(1).plus(BUSY_MACHINE));
    } finally {
      broker.resumeBroker();
    }
  }
}
