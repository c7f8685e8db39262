package dev.outbox.spi.publisher;

import java.time.Duration;
import java.util.Optional;

/** A publisher whose broker can be asked for a sign of life, without a message to publish (P6). */
public interface ReachablePublisher {

  /** Where the broker is, for people and without secrets: for Kafka, the bootstrap servers. */
  String address();

  /**
   * Asks the broker whether it answers and lets us in; publishes nothing. A relay calls it at its
   * start, on a thread of its own and beside {@link MessagePublisher#publish}, again and again
   * until the broker answers.
   *
   * @param patience how long to wait for the answer at most
   * @return why the broker cannot be reached, in one sentence and without secrets; empty when it
   *     answered
   * @throws InterruptedException when the relay stops
   */
  Optional<String> unreachable(Duration patience) throws InterruptedException;
}
