package dev.outbox.relay;

import dev.outbox.spi.publisher.MessagePublisher;
import java.time.Duration;
import java.util.Optional;

/**
 * Asks at the relay's start whether the broker answers, and again until it does. So a wrong address
 * is logged within seconds, even when nothing waits to be published. Nothing else depends on the
 * answer.
 */
final class BrokerCheck {
  static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

  private final String relay;
  private final MessagePublisher publisher;
  private final String address;
  private final Waiting waiting;
  private final RelayListener listener;
  private final Backoff pauses = new Backoff(FIRST_PAUSE, LONGEST_PAUSE, () -> 0);

  BrokerCheck(
      String relay,
      MessagePublisher publisher,
      String address,
      Waiting waiting,
      RelayListener listener) {
    this.relay = relay;
    this.publisher = publisher;
    this.address = address;
    this.waiting = waiting;
    this.listener = listener;
  }

  /** Until the broker answers, or the relay stops. */
  void run() throws InterruptedException {
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
