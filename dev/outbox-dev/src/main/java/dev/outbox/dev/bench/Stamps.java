package dev.outbox.dev.bench;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Tells when messages were passed to a publisher, and when it came back: for a message, that is
 * when all of its call were acknowledged.
 */
record Stamps(MessagePublisher publisher, Listener listener) implements MessagePublisher {

  /** Is told of what was delivered, with times of {@link System#nanoTime}. */
  interface Listener {
    void published(List<UUID> ids, long called, long acknowledged);
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    long called = System.nanoTime();
    List<Result> results = publisher.publish(messages);
    long acknowledged = System.nanoTime();
    List<UUID> delivered = new ArrayList<>();
    for (int i = 0; i < messages.size(); i++) {
      if (results.get(i) instanceof Result.Delivered) {
        delivered.add(messages.get(i).message().id());
      }
    }
    listener.published(delivered, called, acknowledged);
    return results;
  }

  @Override
  public void close() {
    publisher.close();
  }
}
