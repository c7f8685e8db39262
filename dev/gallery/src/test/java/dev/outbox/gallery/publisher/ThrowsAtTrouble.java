package dev.outbox.gallery.publisher;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;

/** Sends one after the other, and lets the caller find out what an exception means. */
@Rule("P3")
final class ThrowsAtTrouble implements MessagePublisher {
  private final Kafka kafka;
  private final KafkaProducer<byte[], byte[]> producer;

  ThrowsAtTrouble(Kafka kafka) {
    this.kafka = kafka;
    this.producer = kafka.producer();
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    List<Result> results = new ArrayList<>();
    for (StoredMessage message : messages) {
      try {
        producer.send(kafka.record(message)).get();
      } catch (ExecutionException e) {
        throw new IllegalStateException("message " + message.sequence(), e.getCause());
      }
      results.add(Result.delivered());
    }
    return results;
  }

  @Override
  public void close() {
    producer.close();
  }
}
