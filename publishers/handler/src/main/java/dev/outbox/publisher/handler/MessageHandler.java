package dev.outbox.publisher.handler;

import dev.outbox.spi.store.StoredMessage;

/** What is done with a message. Used by many threads at once, for messages of different keys. */
@FunctionalInterface
public interface MessageHandler {

  /**
   * Handles a message; who returns has handled it. It may come again, for example after a crash.
   *
   * @throws RejectedException when no try will help: the message becomes a dead letter
   * @throws UnavailableException when what the handler needs is away: tried again without counting
   * @throws Exception when another try may help, unless {@link HandlerPublisher.Builder} says else
   */
  void handle(StoredMessage message) throws Exception;
}
