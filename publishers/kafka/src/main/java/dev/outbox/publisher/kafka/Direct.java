package dev.outbox.publisher.kafka;

import dev.outbox.publisher.core.Places;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.List;

/**
 * The default mode: one producer for all calls, without transactions, and a second one for the few
 * records whose batch was too large.
 */
final class Direct implements KafkaPublisher.Mode {
  final ProducerHolder producer;

  /** The producer that makes a batch of each record; it is made only when it is needed. */
  final ProducerHolder singles;

  final Cluster cluster;
  final Records records;
  final Topics topics;
  final Places<Place> places;
  final Timing timing;

  Direct(
      ProducerHolder producer,
      ProducerHolder singles,
      Cluster cluster,
      Records records,
      Timing timing) {
    this.producer = producer;
    this.singles = singles;
    this.cluster = cluster;
    this.records = records;
    this.timing = timing;
    this.topics = new Topics(timing);
    this.places = new Places<>(timing.patience(), timing.impatience(), Long.MAX_VALUE);
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    return new DirectCall(this, messages).run();
  }

  @Override
  public void close() {
    singles.close(Duration.ZERO);
    producer.close(Duration.ofNanos(timing.patience()));
  }
}
