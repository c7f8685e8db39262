package dev.outbox.dev.bench;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Notes when messages were passed to a publisher, and when it came back: for a message, that is
 * when all of its call were acknowledged. Times are those of the system's clock, which all
 * processes of a machine share, in microseconds.
 */
final class Stamps implements MessagePublisher {
  private final MessagePublisher publisher;
  private final Map<UUID, Stamp> stamps = new ConcurrentHashMap<>();

  /** Of one message. */
  record Stamp(long called, long acknowledged) {}

  Stamps(MessagePublisher publisher) {
    this.publisher = publisher;
  }

  static long now() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    long called = now();
    List<Result> results = publisher.publish(messages);
    Stamp stamp = new Stamp(called, now());
    for (int i = 0; i < messages.size(); i++) {
      if (results.get(i) instanceof Result.Delivered) {
        stamps.putIfAbsent(messages.get(i).message().id(), stamp);
      }
    }
    return results;
  }

  /** All that were not taken yet, of messages that were delivered. */
  Map<UUID, Stamp> take() {
    Map<UUID, Stamp> taken = Map.copyOf(stamps);
    stamps.keySet().removeAll(taken.keySet());
    return taken;
  }

  @Override
  public void close() {
    publisher.close();
  }
}
