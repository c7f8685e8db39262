package dev.outbox.publisher.kafka;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * The transactional mode: a call's messages in one Kafka transaction. A transactional producer has
 * one transaction at a time, so each call under way has a producer to itself; they are kept for the
 * next calls. Topics are looked up through another producer, which never blocks and sends nothing.
 */
final class Transactional implements MessagePublisher {
  private final ProducerHolder lookup;
  private final Function<String, ProducerHolder> producers;
  private final String idPrefix;
  private final PublisherParts parts;
  private final ConcurrentLinkedDeque<TransactionalProducer> idle = new ConcurrentLinkedDeque<>();
  private final AtomicInteger slots = new AtomicInteger();
  private volatile boolean closed;

  Transactional(
      ProducerHolder lookup,
      Function<String, ProducerHolder> producers,
      String idPrefix,
      PublisherParts parts) {
    this.lookup = lookup;
    this.producers = producers;
    this.idPrefix = idPrefix;
    this.parts = parts;
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    TransactionalProducer slot = idle.pollFirst();
    if (slot == null) {
      slot = new TransactionalProducer(producers.apply(idPrefix + "-" + slots.getAndIncrement()));
    }
    try {
      return new TransactionalCall(lookup, slot, parts, messages).run();
    } finally {
      idle.addFirst(slot);
      if (closed) {
        closeIdle();
      }
    }
  }

  @Override
  public void close() {
    closed = true;
    lookup.close(Duration.ZERO);
    closeIdle();
  }

  private void closeIdle() {
    for (TransactionalProducer slot = idle.poll(); slot != null; slot = idle.poll()) {
      slot.producer.close(Duration.ofNanos(parts.timing().impatience()));
    }
  }
}
