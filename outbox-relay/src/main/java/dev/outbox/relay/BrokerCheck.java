package dev.outbox.relay;

import dev.outbox.spi.publisher.MessagePublisher;
import java.time.Duration;
import java.util.Optional;

/**
 * Asks at the relay's start whether the broker answers, and again until it does. So a wrong address
 * is logged within seconds, even when nothing waits to be published. Nothing else depends on the
 * answer.
 */
record BrokerCheck(
    String relay,
    MessagePublisher publisher,
    String address,
    Waiting waiting,
    RelayListener listener) {
  static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

  /** Until the broker answers, or the relay stops. */
  void run() throws InterruptedException {
    Backoff pauses = new Backoff(FIRST_PAUSE, LONGEST_PAUSE, () -> 0);
    while (!waiting.stopping()) {
      Optional<String> trouble = publisher.unreachable(PATIENCE);
      if (trouble.isEmpty()) {
        listener.on(new RelayEvent.BrokerReachable(relay, address));
        return;
      }
      if (!waiting.stopping()) {
        listener.on(new RelayEvent.BrokerUnreachable(relay, address, trouble.get()));
        waiting.pause(this, pauses.next());
      }
    }
  }
}
