package dev.outbox.gallery.publisher;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.KafkaProducer;

/** Sends, and takes for granted that what was sent arrives. */
@Rule("P1")
final class FireAndForget implements MessagePublisher {
  private final Kafka kafka;
  private final KafkaProducer<byte[], byte[]> producer;

  FireAndForget(Kafka kafka) {
    this.kafka = kafka;
    this.producer = kafka.producer();
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) {
    List<Result> results = new ArrayList<>();
    for (StoredMessage message : messages) {
      producer.send(kafka.record(message));
      results.add(Result.delivered());
    }
    return results;
  }

  @Override
  public void close() {
    producer.close();
  }
}
