package dev.outbox.gallery.publisher;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.EmbeddedKafka;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.internal.RuleNames;
import dev.outbox.tck.publisher.PublisherTck;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The suite on a real broker. It is run by {@link PublisherGalleryTest}, which says on which
 * publisher, and of which rules the tests are.
 */
@ExtendWith(KafkaSuite.OnlyRules.class)
class KafkaSuite extends PublisherTck
    implements PublisherTck.BrokerRejects, PublisherTck.DestinationMissing {
  private static final String GOES_TO = "goes-to";
  private static final int PARTITIONS = 3;

  static EmbeddedKafka broker;
  static Function<Kafka, MessagePublisher> publisher;

  /** Whose tests run; empty is all. */
  static Set<String> rules = Set.of();

  private String topic = "";
  private String small = "";

  @Override
  protected MessagePublisher createPublisher() {
    return publisher.apply(new Kafka(broker.bootstrapServers(), this::topicOf));
  }

  private String topicOf(StoredMessage message) {
    return message.message().headers().stream()
        .filter(header -> header.name().equals(GOES_TO))
        .map(Header::value)
        .findFirst()
        .orElse(topic);
  }

  @Override
  protected Duration timeout() {
    return Duration.ofSeconds(14);
  }

  @Override
  protected void reset() {
    topic = "gallery-" + UUID.randomUUID();
    small = topic + "-small";
    Set<NewTopic> topics =
        Set.of(newTopic(topic, Map.of()), newTopic(small, Map.of("max.message.bytes", "2000")));
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      admin.createTopics(topics).all().get();
      while (!hasLeaders(admin)) {
        LockSupport.parkNanos(5_000_000);
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static NewTopic newTopic(String name, Map<String, String> settings) {
    return new NewTopic(name, Optional.of(PARTITIONS), Optional.empty()).configs(settings);
  }

  /** A broker knows of a topic only a moment after it was created. */
  private boolean hasLeaders(Admin admin) throws InterruptedException {
    try {
      return admin.describeTopics(Set.of(topic, small)).allTopicNames().get().values().stream()
          .flatMap(description -> description.partitions().stream())
          .allMatch(partition -> partition.leader() != null && !partition.leader().isEmpty());
    } catch (ExecutionException e) {
      return false;
    }
  }

  @Override
  protected List<Received> received() {
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(
            Map.of("bootstrap.servers", broker.bootstrapServers()),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer())) {
      List<TopicPartition> partitions = new ArrayList<>();
      for (int i = 0; i < PARTITIONS; i++) {
        partitions.add(new TopicPartition(topic, i));
        partitions.add(new TopicPartition(small, i));
      }
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      List<Received> received = new ArrayList<>();
      while (ends.entrySet().stream().anyMatch(e -> consumer.position(e.getKey()) < e.getValue())) {
        consumer.poll(Duration.ofMillis(200)).forEach(record -> received.add(received(record)));
      }
      return received;
    }
  }

  private static Received received(ConsumerRecord<byte[], byte[]> record) {
    List<Header> headers = new ArrayList<>();
    record.headers().forEach(h -> headers.add(new Header(h.key(), new String(h.value(), UTF_8))));
    Received received = Received.of(new String(record.key(), UTF_8), record.value(), headers);
    for (Attribute attribute : Attribute.values()) {
      String name = attribute.name().toLowerCase(Locale.ROOT).replace('_', '-');
      org.apache.kafka.common.header.Header last = record.headers().lastHeader(name);
      received = received.with(attribute, last == null ? null : new String(last.value(), UTF_8));
    }
    return received;
  }

  /** Larger than its topic allows. */
  @Override
  public OutboxMessage.Builder rejected(OutboxMessage.Builder message) {
    return message.header(GOES_TO, small).payload(new byte[5_000]);
  }

  @Override
  public OutboxMessage.Builder toMissing(OutboxMessage.Builder message) {
    return message.header(GOES_TO, topic + "-missing");
  }

  /** The same with outages, which take their time. */
  static final class WithOutages extends KafkaSuite
      implements PublisherTck.BrokerCrashes, PublisherTck.BrokerHangs {

    @Override
    public void stopBroker() {
      broker.stop();
    }

    @Override
    public void killBroker() {
      broker.kill();
    }

    @Override
    public void startBroker() {
      broker.restart();
    }

    @Override
    public void pauseBroker() {
      broker.pause();
    }

    @Override
    public void resumeBroker() {
      broker.resume();
    }
  }

  /** Tests of other rules are left out; those of the fixture have none. */
  static final class OnlyRules implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      List<String> tested = context.getTestMethod().map(RuleNames::rules).orElse(List.of());
      return tested.isEmpty() || rules.isEmpty() || tested.stream().anyMatch(rules::contains)
          ? ConditionEvaluationResult.enabled("asked for")
          : ConditionEvaluationResult.disabled("of a rule that is not asked for");
    }
  }
}
