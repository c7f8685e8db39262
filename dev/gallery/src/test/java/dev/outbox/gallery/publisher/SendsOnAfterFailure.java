package dev.outbox.gallery.publisher;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;

/**
 * Sends the batch, then asks for each result, and relies on the idempotent producer for the order.
 * That one keeps the order of what it retries; what is behind a message that it gives up gets
 * through.
 */
@Rule("P2")
final class SendsOnAfterFailure implements MessagePublisher {
  private final Kafka kafka;
  private final KafkaProducer<byte[], byte[]> producer;

  SendsOnAfterFailure(Kafka kafka) {
    this.kafka = kafka;
    this.producer = kafka.producer();
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    List<? extends Future<?>> sent =
        messages.stream().map(m -> producer.send(kafka.record(m))).toList();
    List<Result> results = new ArrayList<>();
    for (int i = 0; i < messages.size(); i++) {
      try {
        sent.get(i).get();
        results.add(Result.delivered());
      } catch (ExecutionException e) {
        results.add(kafka.resultOf(messages.get(i), e.getCause()));
      }
    }
    return results;
  }

  @Override
  public void close() {
    producer.close();
  }
}
