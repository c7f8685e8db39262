package dev.outbox.dev.demo;

import dev.outbox.cli.Failure;
import dev.outbox.dev.torture.Delivery;
import dev.outbox.embedded.EmbeddedKafka;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jspecify.annotations.Nullable;

/** A Kafka, embedded or the user's own, with a topic for each type. */
final class DemoKafka extends EmbeddedBroker<EmbeddedKafka> {
  private static final int PARTITIONS = 6;
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  private final @Nullable String users;
  private final String prefix;
  private volatile boolean hasTopics;

  /**
   * @param users where the user's own is, or null
   */
  DemoKafka(@Nullable String users, String name) {
    super("Kafka");
    this.users = users;
    this.prefix = name + "-";
  }

  @Override
  public void start() {
    if (users == null) {
      EmbeddedKafka.Builder kafka = EmbeddedKafka.builder();
      start(kafka.setting("auto.create.topics.enable", "false")::start, "a JDK");
    }
    List<NewTopic> topics =
        topics().map(t -> new NewTopic(t, Optional.of(PARTITIONS), Optional.empty())).toList();
    try (Admin admin = admin()) {
      ask("cannot connect to Kafka at", admin.describeCluster().clusterId());
      hasTopics = true;
      ask("the topics could not be made on", admin.createTopics(topics).all());
    }
  }

  private void ask(String problem, Future<?> answer) {
    try {
      answer.get();
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() != null ? e.getCause() : e;
      throw new Failure("%s %s: %s".formatted(problem, address(), cause.getMessage()), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Failure("%s %s: interrupted".formatted(problem, address()), e);
    }
  }

  private Admin admin() {
    return Admin.create(
        Map.of(
            AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG,
            address(),
            AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG,
            Math.toIntExact(PATIENCE.toMillis()),
            AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG,
            Math.toIntExact(PATIENCE.toMillis())));
  }

  private Stream<String> topics() {
    return topics(prefix);
  }

  private static Stream<String> topics(String prefix) {
    return Customers.TYPES.stream().map(type -> prefix + type);
  }

  @Override
  public String address() {
    return server().map(EmbeddedKafka::bootstrapServers).orElse(String.valueOf(users));
  }

  @Override
  public Map<String, String> relayProperties() {
    return Map.of("kafka.bootstrap.servers", address(), "destination", prefix + "{aggregateType}");
  }

  @Override
  public List<String> waysToLook() {
    String topic = prefix + Customers.ORDER;
    return List.of(
        "./outbox demo-read --bootstrap-servers %s --topic %s".formatted(address(), topic),
        "kafka-console-consumer.sh --bootstrap-server %s --topic %s --from-beginning --property print.key=true --property print.headers=true"
            .formatted(address(), topic));
  }

  @Override
  public void close() {
    if (server().isPresent()) {
      super.close();
    } else if (hasTopics) {
      try (Admin admin = admin()) {
        ask(
            "the topics %s* could not be removed from".formatted(prefix),
            admin.deleteTopics(topics().toList()).all());
        removeGroup(admin);
      }
    }
  }

  /** A consumer that has committed nothing yet has none. */
  private void removeGroup(Admin admin) {
    try {
      ask(
          "the group %s could not be removed from".formatted(group(prefix)),
          admin.deleteConsumerGroups(List.of(group(prefix))).all());
    } catch (Failure e) {
      if (!(e.getCause() instanceof ExecutionException cause)
          || !(cause.getCause() instanceof GroupIdNotFoundException)) {
        throw e;
      }
    }
  }

  @Override
  public Source source() {
    return new Topics(address(), partitions(prefix), null);
  }

  @Override
  public Place place() {
    return new Place(address(), prefix);
  }

  static Source source(Place place) {
    return new Topics(place.address(), partitions(place.name()), group(place.name()));
  }

  private static String group(String prefix) {
    return prefix + "shipping";
  }

  private static List<TopicPartition> partitions(String prefix) {
    return topics(prefix)
        .flatMap(t -> IntStream.range(0, PARTITIONS).mapToObj(p -> new TopicPartition(t, p)))
        .toList();
  }

  /** All partitions, from their beginnings, or from where a group was. */
  private static final class Topics implements Source {
    private static final Duration POLL = Duration.ofMillis(100);

    private final KafkaConsumer<String, byte[]> consumer;
    private final List<TopicPartition> partitions;
    private final boolean commits;

    Topics(String bootstrapServers, List<TopicPartition> partitions, @Nullable String group) {
      this.partitions = partitions;
      commits = group != null;
      Map<String, Object> config = new HashMap<>();
      config.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
      config.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
      config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
      config.put(ConsumerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 200);
      config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
      if (group != null) {
        config.put(ConsumerConfig.GROUP_ID_CONFIG, group);
      }
      consumer = new KafkaConsumer<>(config, new StringDeserializer(), new ByteArrayDeserializer());
      consumer.assign(partitions);
      if (!commits) {
        consumer.seekToBeginning(partitions);
      }
    }

    @Override
    public void poll(Sink sink) throws InterruptedException {
      ConsumerRecords<String, byte[]> records = consumer.poll(POLL);
      for (ConsumerRecord<String, byte[]> record : records) {
        sink.received(Delivery.id(record), record.key() == null ? "" : record.key());
      }
      sink.complete();
      if (commits && !records.isEmpty()) {
        commit();
      }
    }

    /** What cannot be committed while the broker is away is so with the next. */
    private void commit() {
      try {
        consumer.commitSync(PATIENCE);
      } catch (RetriableException e) {
        // TimeoutException, too
      }
    }

    @Override
    public BooleanSupplier end() {
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      return () ->
          ends.entrySet().stream().allMatch(e -> consumer.position(e.getKey()) >= e.getValue());
    }

    @Override
    public void close() {
      consumer.close();
    }
  }
}
