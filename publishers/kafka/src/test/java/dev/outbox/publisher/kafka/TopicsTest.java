package dev.outbox.publisher.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.publisher.kafka.Topics.Found;
import dev.outbox.spi.publisher.Result;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.internals.Topic;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which topics are looked up at all. */
class TopicsTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "in valid topic",
        "a/b",
        "a:b",
        "gr\u00fc\u00dfe",
        "a\n",
        "",
        ".",
        "..",
        "...",
        "orders",
        "a.b_c-D9",
        "-",
        "{250}",
        "{249}"
      })
  @DisplayName(
      "Kafka's client is asked for what Kafka's own rule takes as a name, and nothing else")
  void names(String given) {
    String name =
        given.startsWith("{")
            ? "x".repeat(Integer.parseInt(given.substring(1, given.length() - 1)))
            : given;
    List<String> asked = new ArrayList<>();
    FakeProducer producer =
        new FakeProducer() {
          @Override
          public List<PartitionInfo> partitionsFor(String topic) {
            asked.add(topic);
            return super.partitionsFor(topic);
          }
        };
    Found found = new Topics(Timing.of(Duration.ofSeconds(1))).look(producer, name);
    if (Topic.isValid(name)) {
      assertThat(asked).containsExactly(name);
      assertThat(found).isEqualTo(new Found.Ready(producer.partitions));
    } else {
      assertThat(asked).as("it would log an error twice a second, for minutes").isEmpty();
      assertThat(found)
          .isInstanceOfSatisfying(
              Found.Refused.class,
              refused -> assertThat(refused.result()).isInstanceOf(Result.Rejected.class));
    }
  }
}
