package dev.outbox.dev.torture;

import java.time.Duration;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * A process that is one of a group of consumers, until it is told to end or killed. It writes down
 * what it gets: "got TOPIC PARTITION OFFSET ID KEY".
 */
final class ConsumerMain {
  private static final Duration POLL = Duration.ofMillis(200);

  private final Child child;
  private volatile boolean ending;

  private ConsumerMain(Child child) {
    this.child = child;
  }

  public static void main(String[] args) throws Exception {
    try (Child child = Child.connect()) {
      ConsumerMain consumer = new ConsumerMain(child);
      Thread thread = new Thread(consumer::consume, "consumer");
      thread.start();
      child.say(Child.STARTED);
      while (!child.command().equals(Child.END)) {}
      consumer.ending = true;
      thread.join();
    }
  }

  private void consume() {
    Map<String, Object> settings =
        Map.of(
            "group.id", "torture",
            "auto.offset.reset", "earliest",
            "session.timeout.ms", 6_000,
            "heartbeat.interval.ms", 1_000,
            "auto.commit.interval.ms", 500);
    while (!ending) {
      try (KafkaConsumer<String, byte[]> consumer =
          new KafkaConsumer<>(
              child.kafka(settings), new StringDeserializer(), new ByteArrayDeserializer())) {
        consumer.subscribe(IntStream.range(0, Work.topics()).mapToObj(Work::topic).toList());
        while (!ending) {
          consumer.poll(POLL).forEach(this::got);
        }
      } catch (KafkaException e) {
        System.err.println("once more, after " + e);
      }
    }
  }

  private void got(ConsumerRecord<String, byte[]> record) {
    child
        .journal()
        .write(
            "got",
            record.topic(),
            record.partition(),
            record.offset(),
            Delivery.id(record),
            record.key());
  }
}
