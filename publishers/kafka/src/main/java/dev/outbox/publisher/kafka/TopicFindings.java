package dev.outbox.publisher.kafka;

import static java.util.Objects.requireNonNull;

import dev.outbox.Texts;
import dev.outbox.spi.store.Finding;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

/** Whether topics are there, take records now, and lose none with one broker. Changes nothing. */
final class TopicFindings {
  private static final String TOPICS = "topics";

  /** With so many replicas one broker may be away, and the others still have each record twice. */
  private static final int SAFE = 3;

  private final String server;

  TopicFindings(String address) {
    this.server = " --bootstrap-server " + address;
  }

  /**
   * @param address for what to type
   * @param scrub hides secrets in what Kafka says
   */
  static List<Finding> of(
      Admin admin, Set<String> topics, String address, Duration limit, UnaryOperator<String> scrub)
      throws InterruptedException {
    if (topics.isEmpty()) {
      return List.of(Finding.fine(TOPICS, "not looked at: no message waits that would name one"));
    }
    TopicFindings findings = new TopicFindings(address);
    long end = System.nanoTime() + limit.toNanos();
    Map<String, KafkaFuture<TopicDescription>> descriptions =
        admin.describeTopics(topics).topicNameValues();
    Map<ConfigResource, KafkaFuture<Config>> configs =
        admin.describeConfigs(topics.stream().map(TopicFindings::resource).toList()).values();
    List<Finding> found = new ArrayList<>();
    for (String topic : topics) {
      try {
        TopicDescription description = get(descriptions.get(topic), end);
        found.addAll(findings.of(description, get(configs.get(resource(topic)), end)));
      } catch (ExecutionException e) {
        found.add(
            e.getCause() instanceof UnknownTopicOrPartitionException
                ? findings.missing(topic)
                : notLookedAt(topic + ": " + scrub.apply(String.valueOf(e.getCause()))));
      } catch (TimeoutException e) {
        found.add(notLookedAt("%s: no answer within %s".formatted(topic, Texts.time(limit))));
      }
    }
    return found;
  }

  static Finding notLookedAt(String why) {
    return Finding.warning(TOPICS, "not looked at: " + why, null);
  }

  private static ConfigResource resource(String topic) {
    return new ConfigResource(ConfigResource.Type.TOPIC, topic);
  }

  private static <T> T get(@Nullable KafkaFuture<T> future, long end)
      throws InterruptedException, ExecutionException, TimeoutException {
    return requireNonNull(future).get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
  }

  private Finding missing(String topic) {
    return Finding.warning(
        TOPICS,
        "topic %s does not exist: its messages wait, unless the brokers make topics themselves"
            .formatted(topic),
        "kafka-topics.sh%s --create --topic %s --partitions 12 --replication-factor 3"
            .formatted(server, topic));
  }

  /** Of a topic that is there. */
  List<Finding> of(TopicDescription topic, Config config) {
    String name = topic.name();
    List<TopicPartitionInfo> partitions = topic.partitions();
    int replicas = partitions.stream().mapToInt(one -> one.replicas().size()).min().orElse(0);
    ConfigEntry known = config.get(TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG);
    if (known == null) {
      return List.of(notLookedAt(name + ": the broker does not say its min.insync.replicas"));
    }
    int least = Integer.parseInt(known.value());
    String mend =
        "kafka-configs.sh%s --alter --entity-type topics --entity-name %s --add-config min.insync.replicas=%s"
            .formatted(server, name, Math.max(1, replicas - 1));
    String safe =
        replicas < SAFE
            ? "give it three replicas by kafka-reassign-partitions.sh, and min.insync.replicas=2"
            : mend;
    List<Finding> found = new ArrayList<>();
    String closed =
        partitions.stream()
            .filter(one -> one.leader() == null || one.isr().size() < least)
            .map(one -> String.valueOf(one.partition()))
            .collect(Collectors.joining(", "));
    if (replicas < least) {
      found.add(
          Finding.problem(
              TOPICS,
              "topic %s takes nothing: it has %s replicas, and min.insync.replicas is %s"
                  .formatted(name, replicas, least),
              mend));
    } else if (!closed.isEmpty()) {
      found.add(
          Finding.problem(
              TOPICS,
              "topic %s takes nothing in partition %s: fewer brokers have it than min.insync.replicas, %s, or it has no leader"
                  .formatted(name, closed, least),
              "start the brokers that are away; messages wait meanwhile"));
    }
    String risk =
        replicas == 1
            ? "has one replica: when its disk is lost, so are messages that were delivered"
            : least == 1
                ? "has min.insync.replicas=1: a message that only one broker has counts as delivered"
                : replicas == least
                    ? "has %1$s replicas and min.insync.replicas=%1$s: it takes nothing while one broker is away"
                        .formatted(least)
                    : "";
    if (!risk.isEmpty()) {
      found.add(Finding.warning(TOPICS, "topic %s %s".formatted(name, risk), safe));
    }
    return found.isEmpty() ? List.of(Finding.fine(TOPICS, "%s is fine".formatted(name))) : found;
  }
}
