package dev.outbox.dev.bench;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** A broker that was started for {@link PublishScenario}. Its name is {@code toString()}. */
interface PublishBroker extends AutoCloseable {
  OptionalLong pid();

  /** Ours, with its defaults. */
  MessagePublisher publisher() throws Exception;

  /** The broker's own; one for each thread, all on one connection, as our publisher has one. */
  Client client() throws Exception;

  /** How many messages have arrived since it was started. */
  long arrived() throws Exception;

  /** Used by one thread. */
  interface Client {
    /** So many messages may be without their acknowledgement. */
    int mostAtOnce();

    /**
     * Sends what our publisher sends of a message.
     *
     * @param answered called by any thread: with whether the broker has it
     */
    void send(StoredMessage message, Consumer<Boolean> answered) throws Exception;
  }
}
