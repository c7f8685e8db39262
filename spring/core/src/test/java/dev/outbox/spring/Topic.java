package dev.outbox.spring;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.embedded.EmbeddedKafka;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.Predicate;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A topic of one partition, and what is in it. */
public record Topic(Map<String, Object> connection, String name) {

  public static Topic create(EmbeddedKafka broker, String name)
      throws ExecutionException, InterruptedException {
    Map<String, Object> connection = Map.of("bootstrap.servers", broker.bootstrapServers());
    try (Admin admin = Admin.create(connection)) {
      admin.createTopics(List.of(new NewTopic(name, 1, (short) 1))).all().get();
    }
    return new Topic(connection, name);
  }

  /** From the beginning, until they are enough; they are fewer when that takes too long. */
  public List<ConsumerRecord<String, byte[]>> records(
      Predicate<List<ConsumerRecord<String, byte[]>>> enough) {
    List<ConsumerRecord<String, byte[]>> records = new ArrayList<>();
    try (KafkaConsumer<String, byte[]> consumer =
        new KafkaConsumer<>(connection, new StringDeserializer(), new ByteArrayDeserializer())) {
      List<TopicPartition> partitions = List.of(new TopicPartition(name, 0));
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      long end = System.nanoTime() + Duration.ofMinutes(2).toNanos();
      while (!enough.test(records) && System.nanoTime() < end) {
        consumer.poll(Duration.ofMillis(200)).forEach(records::add);
      }
    }
    return records;
  }

  public static String header(ConsumerRecord<?, ?> record, String name) {
    return new String(record.headers().lastHeader(name).value(), UTF_8);
  }
}
