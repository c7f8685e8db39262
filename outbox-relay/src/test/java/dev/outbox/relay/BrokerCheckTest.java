package dev.outbox.relay;

import static dev.outbox.relay.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The broker's address is checked at the start, also when nothing waits. */
class BrokerCheckTest {
  private final FaultyStore store = new FaultyStore();
  private final Recorder events = new Recorder();
  private final AtomicInteger asked = new AtomicInteger();

  private Relay relay(Callable<Optional<String>> answer) {
    class Reachable implements MessagePublisher {
      @Override
      public String address() {
        return "broker:9092";
      }

      @Override
      public Optional<String> unreachable(Duration patience) throws InterruptedException {
        asked.incrementAndGet();
        try {
          return answer.call();
        } catch (InterruptedException | RuntimeException e) {
          throw e;
        } catch (Exception e) {
          throw new AssertionError(e);
        }
      }

      @Override
      public List<Result> publish(List<StoredMessage> messages) {
        return messages.stream().map(m -> Result.delivered()).toList();
      }
    }
    return Relay.builder(store, new Reachable()).name("checked").listener(events).build();
  }

  @Test
  void saysThatItCannotBeReachedAndLaterThatItCan() {
    try (Relay relay =
        relay(() -> asked.get() == 1 ? Optional.of("connection refused") : Optional.empty())) {
      relay.start();
      await().until(() -> events.of("reachable").size() == 1);
    }
    assertThat(events.of("unreachable"))
        .containsExactly("unreachable broker:9092 connection refused");
    assertThat(events.of("reachable")).containsExactly("reachable broker:9092");
    assertThat(asked).hasValue(2);
  }

  @Test
  void aCheckThatThrowsIsReportedAndNothingDependsOnIt() {
    try (Relay relay =
        relay(
            () -> {
              throw new IllegalStateException("a bug");
            })) {
      relay.start();
      await().until(() -> events.of("broken").size() == 1);
      store.append("a", "1");
      await().until(() -> events.of("delivered").size() == 1);
    }
  }

  @Test
  void aCheckUnderWayEndsWithTheRelayWithoutAWord() throws InterruptedException {
    CountDownLatch inside = new CountDownLatch(1);
    try (Relay relay =
        relay(
            () -> {
              inside.countDown();
              new CountDownLatch(1).await();
              return Optional.empty();
            })) {
      relay.start();
      inside.await();
    }
    await()
        .until(
            () ->
                Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().equals("checked-check")));
    assertThat(events.of("broken")).isEmpty();
    assertThat(events.of("reachable")).isEmpty();
  }
}
