package dev.outbox.dev.bench;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * A server that was started for this, whose publisher is measured beside its own client. Its text
 * is its name, with the version where we know it.
 */
interface Measured extends AutoCloseable {

  /**
   * The server's own client, which sends what our publisher sends: the limit. Used by one thread;
   * those of several share a connection, as our publisher has one.
   */
  interface Client {
    /** So many messages may be without their acknowledgement. */
    int mostAtOnce();

    /**
     * Sends what our publisher sends of a message.
     *
     * @param answered called by any thread: with whether the server has it
     */
    void send(StoredMessage message, Consumer<Boolean> answered) throws Exception;
  }

  /** Its first process; empty: it is in this one. */
  OptionalLong pid();

  /** With its defaults. */
  MessagePublisher publisher();

  Client client() throws Exception;

  /** How many messages have arrived since it was started. */
  long arrived() throws Exception;

  @Override
  void close();
}
