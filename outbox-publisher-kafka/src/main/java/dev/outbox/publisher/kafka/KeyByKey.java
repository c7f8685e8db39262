package dev.outbox.publisher.kafka;

import dev.outbox.OutboxException;
import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
import java.time.Duration;
import java.util.Collections;
import java.util.List;

/** The default mode: at most one record of a key in flight in a call. */
final class KeyByKey implements KafkaPublisher.Mode {
  private final ProducerHolder producer;
  private final Records records;
  private final Topics topics;
  private final Timing timing;

  KeyByKey(ProducerHolder producer, Records records, Topics topics, Timing timing) {
    this.producer = producer;
    this.records = records;
    this.topics = topics;
    this.timing = timing;
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    ProducerHolder.Connection connection;
    try {
      connection = producer.get();
    } catch (OutboxException e) {
      return Collections.nCopies(
          messages.size(), Result.unavailable(String.valueOf(e.getMessage())));
    }
    return new KeyByKeyCall(producer, connection, records, topics, timing, messages).run();
  }

  @Override
  public void close() {
    producer.close(Duration.ofNanos(timing.patience()));
  }
}
