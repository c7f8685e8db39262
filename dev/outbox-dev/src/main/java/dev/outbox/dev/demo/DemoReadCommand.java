package dev.outbox.dev.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.Texts;
import dev.outbox.cli.Failure;
import dev.outbox.cli.Logs;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Prints what is in a topic, for those who have no tool of Kafka's at hand. */
@Command(name = "demo-read", hidden = true, description = "Print what is in a topic by now.")
public final class DemoReadCommand implements Callable<Integer> {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final Duration POLL = Duration.ofMillis(200);

  @Option(names = "--bootstrap-servers", required = true)
  @SuppressWarnings("NullAway.Init") // required
  private String bootstrapServers;

  @Option(names = "--topic", required = true)
  @SuppressWarnings("NullAway.Init") // required
  private String topic;

  @Spec
  @SuppressWarnings("NullAway.Init") // set by picocli
  private CommandSpec spec;

  @Override
  public Integer call() {
    Logs.off();
    PrintWriter out = spec.commandLine().getOut();
    Map<String, Object> config =
        Map.of(
            ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
            bootstrapServers,
            ConsumerConfig.ISOLATION_LEVEL_CONFIG,
            "read_committed",
            ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG,
            Math.toIntExact(PATIENCE.toMillis()));
    try (KafkaConsumer<String, byte[]> consumer =
        new KafkaConsumer<>(config, new StringDeserializer(), new ByteArrayDeserializer())) {
      List<TopicPartition> partitions =
          consumer.partitionsFor(topic).stream()
              .map(partition -> new TopicPartition(topic, partition.partition()))
              .toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      do {
        consumer.poll(POLL).forEach(record -> print(record, out));
      } while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.getOrDefault(p, 0L)));
    } catch (KafkaException e) {
      throw new Failure(
          "topic %s cannot be read from %s: %s".formatted(topic, bootstrapServers, e.getMessage()),
          e);
    }
    out.flush();
    return 0;
  }

  private static void print(ConsumerRecord<String, byte[]> record, PrintWriter out) {
    Header type = record.headers().lastHeader("outbox-event-type");
    out.println(
        Texts.printable(
            "%d:%d  %s  %s  %s"
                .formatted(
                    record.partition(),
                    record.offset(),
                    record.key(),
                    type == null ? "-" : new String(type.value(), UTF_8),
                    record.value() == null ? "-" : new String(record.value(), UTF_8))));
  }
}
