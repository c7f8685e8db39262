package dev.outbox.publisher.kafka;

import static dev.outbox.embedded.TestMessages.message;
import static dev.outbox.embedded.TestMessages.stored;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.Finding.Severity;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartitionInfo;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("What is said of Kafka's topics")
class TopicFindingsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @Test
  @DisplayName("a real broker: topics that are missing, unsafe, closed, or cannot be, each once")
  void real() throws Exception {
    String unsafe = TestKafka.topic(Map.of());
    String closed = TestKafka.topic(Map.of("min.insync.replicas", "2"));
    String missing = "missing-" + UUID.randomUUID();
    try (KafkaPublisher publisher = TestKafka.publisher().build()) {
      List<Finding> found =
          publisher.findings(
              List.of(
                  stored(message(unsafe, "a")),
                  stored(message(unsafe, "b")),
                  stored(message(closed, "c")),
                  stored(message(missing, "d")),
                  stored(message("not a topic", "e"))),
              PATIENCE);
      assertThat(found.stream().map(Finding::sentence))
          .filteredOn(sentence -> sentence.contains(unsafe))
          .singleElement()
          .asString()
          .contains("has one replica");
      assertThat(found)
          .filteredOn(one -> one.severity() == Severity.PROBLEM)
          .singleElement()
          .satisfies(
              one -> {
                assertThat(one.sentence())
                    .contains(closed + " takes nothing: it has 1 replicas", "is 2");
                assertThat(one.remedy())
                    .endsWith(closed + " --add-config min.insync.replicas=1")
                    .contains(TestKafka.bootstrapServers());
              });
      assertThat(found)
          .filteredOn(one -> one.sentence().contains(missing))
          .singleElement()
          .satisfies(one -> assertThat(one.remedy()).contains("--create --topic " + missing));
      assertThat(found)
          .filteredOn(one -> one.sentence().contains("not a topic"))
          .singleElement()
          .satisfies(one -> assertThat(one.sentence()).contains("InvalidTopicException"));
    }
  }

  @Test
  @DisplayName("nothing waits, or no broker answers")
  void nothing() throws Exception {
    try (KafkaPublisher publisher =
        KafkaPublisher.builder().property("bootstrap.servers", "127.0.0.1:1").build()) {
      assertThat(publisher.findings(List.of(), PATIENCE))
          .singleElement()
          .satisfies(one -> assertThat(one.sentence()).contains("no message waits"));
      assertThat(
              publisher.findings(List.of(stored(message("orders", "a"))), Duration.ofMillis(200)))
          .singleElement()
          .satisfies(one -> assertThat(one.sentence()).contains("no answer within"));
    }
  }

  @ParameterizedTest(name = "{0} replicas, {1} in sync, min.insync.replicas={2}: {3}")
  @CsvSource({
    "3, 3, 2, FINE, is fine, ",
    "3, 2, 2, FINE, is fine, ",
    "3, 1, 2, PROBLEM, takes nothing in partition 0, start the brokers",
    "3, 3, 1, WARNING, only one broker has, min.insync.replicas=2",
    "3, 3, 3, WARNING, while one broker is away, min.insync.replicas=2",
    "2, 2, 1, WARNING, only one broker has, three replicas",
    "2, 2, 2, WARNING, while one broker is away, three replicas",
  })
  void replicas(
      int replicas, int inSync, int least, Severity severity, String says, String remedy) {
    List<Node> nodes =
        IntStream.range(0, replicas).mapToObj(id -> new Node(id, "b" + id, 9092)).toList();
    TopicPartitionInfo partition =
        new TopicPartitionInfo(0, nodes.get(0), nodes, nodes.subList(0, inSync));
    Config config =
        new Config(Set.of(new ConfigEntry("min.insync.replicas", Integer.toString(least))));
    assertThat(
            new TopicFindings("b:9092")
                .of(new TopicDescription("orders", false, List.of(partition)), config))
        .singleElement()
        .satisfies(
            found -> {
              assertThat(found.severity()).isEqualTo(severity);
              assertThat(found.sentence()).contains(says);
              if (remedy != null) {
                assertThat(found.remedy()).contains(remedy);
              }
            });
  }

  @Test
  @DisplayName("a broker that says nothing of min.insync.replicas")
  void silent() {
    assertThat(
            new TopicFindings("b:9092")
                .of(new TopicDescription("orders", false, List.of()), new Config(Set.of())))
        .singleElement()
        .satisfies(found -> assertThat(found.sentence()).startsWith("not looked at: orders"));
  }
}
