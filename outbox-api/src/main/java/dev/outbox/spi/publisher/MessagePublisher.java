package dev.outbox.spi.publisher;

import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One broker. Safe for use by many threads. */
@FunctionalInterface
public interface MessagePublisher extends AutoCloseable {

  /**
   * Publishes messages. Those of one key are in order, and reach the broker in that order; once one
   * of them was not delivered, no later one of this call is (P2). Returns within a time limit of
   * the publisher's own, which is below the relay's publish timeout, as that is below the lease
   * (P5).
   *
   * @param messages not empty, each decodable; unmodifiable
   * @return one result a message, in the same order (P1); a list of this call's own
   * @throws RuntimeException when no result can be given: the relay then tries the messages one at
   *     a time, so that only the culprit fails
   * @throws InterruptedException when the relay gave up waiting; what was delivered is delivered
   *     again
   */
  List<Result> publish(List<StoredMessage> messages) throws InterruptedException;

  /**
   * Where the broker is, for people and without secrets: for Kafka, the bootstrap servers. Null,
   * the default, when it cannot be asked for a sign of life (P6).
   */
  default @Nullable String address() {
    return null;
  }

  /**
   * Asks the broker at the {@link #address} whether it answers and lets this client in; publishes
   * nothing. A relay calls it at its start, on a thread of its own and beside {@link #publish},
   * again and again until the broker answers.
   *
   * @param patience how long to wait for the answer at most
   * @return why the broker cannot be reached, in one sentence and without secrets; empty when it
   *     answered
   * @throws InterruptedException when the relay stops
   */
  default Optional<String> unreachable(Duration patience) throws InterruptedException {
    return Optional.empty();
  }

  /**
   * How the destinations of these messages are: whether they exist, and whether the loss of one of
   * the broker's machines loses messages. Asks the broker; publishes and changes nothing. For
   * {@code outbox doctor}. By default it looks at nothing.
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

  /**
   * Releases what the publisher holds; called once, by whoever made it. Returns within the time
   * limit, also when the broker does not answer (P5). Does nothing by default.
   */
  @Override
  default void close() {}
}
