package dev.outbox.publisher.kafka;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.List;

/**
 * The default mode: one producer for all calls, without transactions, and a second one for the few
 * records whose batch was too large.
 */
final class Direct implements MessagePublisher {
  private final ProducerHolder producer;

  /** The producer that makes a batch of each record; it is made only when it is needed. */
  private final ProducerHolder singles;

  final PublisherParts parts;

  Direct(ProducerHolder producer, ProducerHolder singles, PublisherParts parts) {
    this.producer = producer;
    this.singles = singles;
    this.parts = parts;
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    return new DirectCall(producer, singles, parts, messages).run();
  }

  @Override
  public void close() {
    singles.close(Duration.ZERO);
    producer.close(Duration.ofNanos(parts.timing().patience()));
  }
}
