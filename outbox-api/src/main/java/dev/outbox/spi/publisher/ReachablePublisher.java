package dev.outbox.spi.publisher;

import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A publisher whose broker can be asked without a message to publish, whether it answers (P6). */
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

  /**
   * How the places are where these messages would go: whether they exist, and whether the loss of
   * one of the broker's machines loses messages. Asks the broker; publishes and changes nothing.
   * For {@code outbox doctor}. By default it looks at nothing.
   *
   * @param waiting some of the messages that wait, perhaps none
   * @param patience how long to wait for answers at most
   * @return at least one finding for each thing that was looked at, without secrets
   * @throws InterruptedException when the caller gives up
   */
  default List<Finding> findings(List<StoredMessage> waiting, Duration patience)
      throws InterruptedException {
    return List.of();
  }
}
