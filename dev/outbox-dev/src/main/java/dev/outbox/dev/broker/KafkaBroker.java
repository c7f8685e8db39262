package dev.outbox.dev.broker;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.cli.Failure;
import dev.outbox.dev.broker.Source.Reading;
import dev.outbox.dev.broker.Source.Received;
import dev.outbox.embedded.EmbeddedKafka;
import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.kafka.KafkaPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jspecify.annotations.Nullable;

/** A Kafka, embedded or the user's own. */
public final class KafkaBroker extends Broker {
  private static final int PARTITIONS = 6;
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  private volatile boolean hasTopics;

  /** See {@link Broker.Kind#open}. */
  public KafkaBroker(@Nullable String address, String name, List<String> types) {
    super(Kind.KAFKA, address, name, types);
  }

  @Override
  Started launch(int proxyPort) {
    EmbeddedKafka.Builder kafka =
        EmbeddedKafka.builder().setting("auto.create.topics.enable", "false");
    EmbeddedKafka started = (proxyPort == 0 ? kafka : kafka.advertisedPort(proxyPort)).start();
    return new Started(started, "127.0.0.1:" + started.port());
  }

  @Override
  public String needs() {
    return "a JDK";
  }

  private Map<String, Object> with(Map<String, ?> more) {
    Map<String, Object> settings = new HashMap<>(more);
    settings.put("bootstrap.servers", address());
    settings.put("reconnect.backoff.max.ms", 500);
    return settings;
  }

  private Admin admin() {
    int patience = Math.toIntExact(PATIENCE.toMillis());
    return Admin.create(
        with(Map.of("default.api.timeout.ms", patience, "request.timeout.ms", patience)));
  }

  @Override
  public void createTopics() {
    createTopics(Map.of("max.message.bytes", "" + MOST_BYTES));
  }

  /**
   * @param settings of each topic, where they are not Kafka's defaults
   */
  public void createTopics(Map<String, String> settings) {
    List<NewTopic> topics =
        topics().stream()
            .map(t -> new NewTopic(t, Optional.of(PARTITIONS), Optional.empty()).configs(settings))
            .toList();
    try (Admin admin = admin()) {
      String unused =
          tried(
              "cannot connect to Kafka at " + address(),
              () -> admin.describeCluster().clusterId().get());
      hasTopics = true;
      tried("the topics could not be made", () -> admin.createTopics(topics).all().get());
    }
  }

  @Override
  public Map<String, String> relayProperties() {
    return Map.of("kafka.bootstrap.servers", address());
  }

  @Override
  public MessagePublisher publisher(@Nullable Duration timeout) {
    KafkaPublisher.Builder publisher =
        KafkaPublisher.builder()
            .properties(with(Map.of()))
            .destination(Destination.pattern(destination()));
    return (timeout == null ? publisher : publisher.timeout(timeout)).build();
  }

  /** Kafka's own with its defaults, idempotent, with acks=all. */
  public KafkaProducer<byte[], byte[]> producer() {
    return new KafkaProducer<>(
        with(Map.of("acks", "all", "enable.idempotence", true)),
        new ByteArraySerializer(),
        new ByteArraySerializer());
  }

  /** What our publisher sends of a message. */
  public ProducerRecord<byte[], byte[]> record(StoredMessage message) {
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(
            prefix + message.message().aggregateType(),
            message.message().recordKey().getBytes(UTF_8),
            message.message().payload());
    Attributes.forEach(message, (name, value) -> record.headers().add(name, value.getBytes(UTF_8)));
    return record;
  }

  @Override
  public void close() {
    if (canStop()) {
      super.close();
    } else if (hasTopics) {
      try (Admin admin = admin()) {
        tried(
            "the topics %s* could not be removed from %s".formatted(prefix, address()),
            () -> admin.deleteTopics(topics()).all().get());
        tried(
            "the group %s could not be removed from %s".formatted(group(), address()),
            () -> removeGroup(admin));
      }
    }
  }

  /** A consumer that has committed nothing yet has none. */
  private @Nullable Void removeGroup(Admin admin) throws Exception {
    try {
      return admin.deleteConsumerGroups(List.of(group())).all().get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof GroupIdNotFoundException) {
        return null;
      }
      throw e;
    }
  }

  private String group() {
    return prefix + "consumers";
  }

  @Override
  public Source source(Reading reading) {
    return new Records(reading);
  }

  private final class Records implements Source {
    private static final Duration POLL = Duration.ofMillis(100);

    private final List<TopicPartition> partitions =
        topics().stream()
            .flatMap(t -> IntStream.range(0, PARTITIONS).mapToObj(p -> new TopicPartition(t, p)))
            .toList();
    private final Reading reading;
    private final KafkaConsumer<String, byte[]> consumer;

    Records(Reading reading) {
      this.reading = reading;
      boolean together = reading == Reading.TOGETHER;
      Map<String, Object> config = new HashMap<>();
      config.put("auto.offset.reset", "earliest");
      config.put("enable.auto.commit", together);
      config.put("auto.commit.interval.ms", 500);
      config.put("session.timeout.ms", 6_000);
      config.put("heartbeat.interval.ms", 1_000);
      // So long a rebalance waits for a member that was killed, or whose connection hangs.
      config.put("max.poll.interval.ms", 10_000);
      if (reading != Reading.WHOLE) {
        config.put("group.id", group());
      }
      consumer =
          new KafkaConsumer<>(with(config), new StringDeserializer(), new ByteArrayDeserializer());
      if (together) {
        consumer.subscribe(topics());
      } else {
        consumer.assign(partitions);
      }
    }

    @Override
    public void poll(Source.Sink sink) throws InterruptedException {
      ConsumerRecords<String, byte[]> records;
      try {
        records = consumer.poll(POLL);
      } catch (KafkaException e) {
        throw new Failure("Kafka cannot be read: " + e.getMessage(), e);
      }
      records.forEach(record -> sink.received(received(record)));
      sink.complete();
      if (reading == Reading.ALONE && !records.isEmpty()) {
        commit();
      }
    }

    private static Received received(ConsumerRecord<String, byte[]> record) {
      Header id = record.headers().lastHeader("outbox-id");
      return new Received(
          record.topic() + "-" + record.partition(),
          record.offset(),
          Received.id(id == null ? null : new String(id.value(), UTF_8)),
          record.key() == null ? "" : record.key(),
          record.value());
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
