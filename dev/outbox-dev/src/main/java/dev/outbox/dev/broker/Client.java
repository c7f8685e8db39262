package dev.outbox.dev.broker;

import dev.outbox.spi.store.StoredMessage;
import java.util.function.Consumer;

/**
 * A broker's own client, which sends what our publisher sends: the limit of benchmarks. Used by one
 * thread.
 */
public interface Client extends AutoCloseable {
  /** So many messages may be without their acknowledgement. */
  int mostAtOnce();

  /**
   * Sends what our publisher sends of a message.
   *
   * @param answered called by any thread: with whether the broker has it
   */
  void send(StoredMessage message, Consumer<Boolean> answered) throws Exception;

  /** Returns when all is answered that was sent, where the client knows. */
  @Override
  default void close() {}
}
