package dev.outbox.gallery.publisher;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;

/**
 * Sends the batch, flushes, and gives all messages the result of the first that failed. By then the
 * others are at the broker, also those behind it.
 */
@Rule({"P1", "P2"})
final class OneResultForAll implements MessagePublisher {
  private final Kafka kafka;
  private final KafkaProducer<byte[], byte[]> producer;

  OneResultForAll(Kafka kafka) {
    this.kafka = kafka;
    this.producer = kafka.producer();
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    List<? extends Future<?>> sent =
        messages.stream().map(m -> producer.send(kafka.record(m))).toList();
    producer.flush();
    Result result = Result.delivered();
    for (int i = 0; i < sent.size() && result instanceof Result.Delivered; i++) {
      try {
        sent.get(i).get();
      } catch (ExecutionException e) {
        result = kafka.resultOf(messages.get(i), e.getCause());
      }
    }
    return Collections.nCopies(messages.size(), result);
  }

  @Override
  public void close() {
    producer.close();
  }
}
