package dev.outbox.publisher.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;

/** A producer whose records end as the test says; a record that it says nothing of waits. */
class FakeProducer extends MockProducer<byte[], byte[]> {
  final BlockingQueue<Sent> sent = new LinkedBlockingQueue<>();
  volatile int partitions = 4;
  volatile boolean closed;

  /** What the producer was given. */
  record Sent(ProducerRecord<byte[], byte[]> record, Callback callback, AtomicBoolean ended) {
    void ends(Exception error) {
      if (ended.compareAndSet(false, true)) {
        callback.onCompletion(null, error);
      }
    }

    String key() {
      return new String(record.key(), UTF_8);
    }

    String sequence() {
      return new String(record.headers().lastHeader("outbox-sequence").value(), UTF_8);
    }
  }

  private final BiConsumer<FakeProducer, Sent> on;

  FakeProducer() {
    this((producer, record) -> {});
  }

  /**
   * @param on what happens to a record that the producer has been given
   */
  FakeProducer(BiConsumer<FakeProducer, Sent> on) {
    this.on = on;
  }

  /** All of its records end so. */
  static FakeProducer ending(Exception error) {
    return new FakeProducer((producer, record) -> record.ends(error));
  }

  @Override
  public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, Callback callback) {
    if (closed) {
      throw new IllegalStateException("Cannot perform operation after producer has been closed");
    }
    Sent one = new Sent(record, callback, new AtomicBoolean());
    sent.add(one);
    on.accept(this, one);
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public List<PartitionInfo> partitionsFor(String topic) {
    return IntStream.range(0, partitions)
        .mapToObj(p -> new PartitionInfo(topic, p, null, null, null))
        .toList();
  }

  @Override
  public void close(Duration timeout) {
    closed = true;
    sent.forEach(s -> s.ends(new KafkaException("Producer is closed forcefully.")));
  }
}
