package dev.outbox.dev.demo;

import dev.outbox.cli.Failure;
import dev.outbox.dev.torture.Delivery;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jspecify.annotations.Nullable;

/** Reads everything from Kafka, on a thread of its own, and tells the ledger. */
final class Reader implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration POLL = Duration.ofMillis(100);

  private final KafkaConsumer<String, byte[]> consumer;
  private final List<TopicPartition> partitions;
  private final Ledger ledger;
  private final Thread thread = new Thread(this::run, "reader");
  private volatile boolean toTheEnd;
  private volatile boolean stopped;
  private volatile @Nullable Throwable failure;

  Reader(String bootstrapServers, List<TopicPartition> partitions, Ledger ledger) {
    this.partitions = partitions;
    this.ledger = ledger;
    consumer =
        new KafkaConsumer<>(
            Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                bootstrapServers,
                ConsumerConfig.ISOLATION_LEVEL_CONFIG,
                "read_committed",
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
                "earliest",
                ConsumerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG,
                200),
            new StringDeserializer(),
            new ByteArrayDeserializer());
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /** Returns when all that is in Kafka by now was read. */
  void readToTheEnd() throws InterruptedException {
    toTheEnd = true;
    thread.join(PATIENCE.toMillis());
    if (thread.isAlive()) {
      throw new Failure("the consumer did not reach the end of the topics within " + PATIENCE);
    }
    Throwable e = failure;
    if (e != null) {
      throw new Failure("the consumer failed: " + e.getMessage(), e);
    }
  }

  private void run() {
    try (consumer) {
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      while (!stopped) {
        boolean last = toTheEnd;
        Map<TopicPartition, Long> ends = last ? consumer.endOffsets(partitions) : Map.of();
        do {
          consumer.poll(POLL).forEach(this::tell);
        } while (!stopped && last && !reached(ends));
        if (last) {
          return;
        }
      }
    } catch (RuntimeException e) {
      failure = e;
    }
  }

  private boolean reached(Map<TopicPartition, Long> ends) {
    return ends.entrySet().stream().allMatch(e -> consumer.position(e.getKey()) >= e.getValue());
  }

  private void tell(ConsumerRecord<String, byte[]> record) {
    long at = System.nanoTime();
    UUID uuid = Delivery.id(record);
    ledger.delivered(uuid, record.key() == null ? "" : record.key(), at);
  }

  @Override
  public void close() {
    stopped = true;
    try {
      thread.join(Duration.ofSeconds(5).toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
