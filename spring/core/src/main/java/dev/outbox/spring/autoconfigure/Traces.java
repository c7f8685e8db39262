package dev.outbox.spring.autoconfigure;

import dev.outbox.JoinedOutbox;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;

/** Tracing, for those who have to do without its classes. */
interface Traces {
  JoinedOutbox outbox(JoinedOutbox outbox);

  MessagePublisher publisher(MessagePublisher publisher);

  void send(StoredMessage message, Runnable send);
}
