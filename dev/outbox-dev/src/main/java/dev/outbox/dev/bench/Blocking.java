package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StatisticsStore;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Keys that fail, and what waits behind them. */
final class Blocking {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /** Between two attempts where only that it fails is of interest. */
  static final Duration SOON = Duration.ofMillis(10);

  private static final Duration LOOK = Duration.ofMillis(200);

  private Blocking() {}

  /** Takes all messages but those of keys that begin like this, which always fail. */
  static MessagePublisher failing(String prefix) {
    return messages ->
        messages.stream()
            .map(
                message ->
                    message.message().aggregateId().startsWith(prefix)
                        ? Result.failed("this key always fails")
                        : Result.delivered())
            .toList();
  }

  /** Tries for ever, always after the same time. */
  static RetryPolicy every(Duration delay) {
    return RetryPolicy.builder()
        .firstDelay(delay)
        .maxDelay(delay)
        .jitter(0)
        .maxAttempts(Integer.MAX_VALUE)
        .build();
  }

  /** Runs a relay until no message is left that was not found out to be blocked. */
  static void untilAllAreBlocked(Access access, String prefix) throws InterruptedException {
    if (!(access.store() instanceof StatisticsStore statistics)) {
      throw new IllegalStateException("the store does not count what waits");
    }
    long end = System.nanoTime() + PATIENCE.toNanos();
    try (Relay relay =
        Relay.builder(access.store(), failing(prefix))
            .workers(1)
            .retryPolicy(every(SOON))
            .build()) {
      relay.start();
      while (statistics.statistics(1).pending() > 0) {
        if (System.nanoTime() - end > 0) {
          throw new IllegalStateException("messages are still not blocked after " + PATIENCE);
        }
        TimeUnit.NANOSECONDS.sleep(LOOK.toNanos());
      }
    }
  }
}
