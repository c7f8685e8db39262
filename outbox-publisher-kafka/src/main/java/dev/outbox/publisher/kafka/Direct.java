package dev.outbox.publisher.kafka;

import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
import java.time.Duration;
import java.util.List;

/** The default mode: one producer for all calls, without transactions. */
final class Direct implements KafkaPublisher.Mode {
  private final ProducerHolder producer;
  private final Records records;
  private final Topics topics;
  private final Timing timing;

  Direct(ProducerHolder producer, Records records, Topics topics, Timing timing) {
    this.producer = producer;
    this.records = records;
    this.topics = topics;
    this.timing = timing;
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    return new DirectCall(producer, records, topics, timing, messages).run();
  }

  @Override
  public void close() {
    producer.close(Duration.ofNanos(timing.patience()));
  }
}
