package dev.outbox.spi.publisher;

import dev.outbox.spi.store.StoredMessage;
import java.util.List;

/** One broker. Safe for use by many threads. */
@FunctionalInterface
public interface MessagePublisher extends AutoCloseable {

  /**
   * Publishes messages; those of one key are in order and must reach the broker in that order.
   * Returns before the lease ends (P5), so its own time limit is set below the relay's lease. Once
   * a message of a key was not delivered, no later one of that key from the same call is (P2).
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
   * Releases what the publisher holds; called once, by whoever made it. Returns within the time
   * limit, also when the broker does not answer (P5). Does nothing by default.
   */
  @Override
  default void close() {}
}
