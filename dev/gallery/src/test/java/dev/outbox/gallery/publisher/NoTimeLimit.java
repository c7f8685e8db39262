package dev.outbox.gallery.publisher;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;

/** Retries for ever, so that nothing is lost, and waits for it. */
@Rule("P5")
final class NoTimeLimit implements MessagePublisher {
  private final Kafka kafka;
  private final KafkaProducer<byte[], byte[]> producer;

  NoTimeLimit(Kafka kafka) {
    this.kafka = kafka;
    this.producer =
        kafka.producer(
            Map.of("max.block.ms", Long.MAX_VALUE, "delivery.timeout.ms", Integer.MAX_VALUE));
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    List<Result> results = new ArrayList<>();
    Set<String> stopped = new HashSet<>();
    for (StoredMessage message : messages) {
      if (stopped.contains(message.key())) {
        results.add(Result.unavailable("an earlier one failed", kafka.topic(message)));
        continue;
      }
      try {
        producer.send(kafka.record(message)).get();
        results.add(Result.delivered());
      } catch (ExecutionException e) {
        results.add(kafka.resultOf(message, e.getCause()));
        stopped.add(message.key());
      }
    }
    return results;
  }

  @Override
  public void close() {
    producer.close();
  }
}
