package dev.outbox.spring.autoconfigure;

import dev.outbox.JoinedOutbox;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;

/** Tracing, behind an interface, because its classes may be missing. */
interface Traces {
  JoinedOutbox outbox(JoinedOutbox outbox);

  MessagePublisher publisher(MessagePublisher publisher);

  void send(StoredMessage message, Runnable send);
}
