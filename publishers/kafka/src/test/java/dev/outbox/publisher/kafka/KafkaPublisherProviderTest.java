package dev.outbox.publisher.kafka;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KafkaPublisherProviderTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "kafka.acks | 1 | acks is 1, it must be all",
        "destination.order | {type} | the property destination.order is {type}, and there is no",
        "publisher.cloudEventsSource | no uri | publisher.cloudEventsSource is no uri, which is no URI",
      })
  @DisplayName("a setting that would break the contract is refused")
  void refused(String name, String value, String sentence) {
    Map<String, String> properties =
        new HashMap<>(Map.of("kafka.bootstrap.servers", "127.0.0.1:1"));
    properties.put(name, value);
    assertThatThrownBy(() -> new KafkaPublisherProvider().open(properties, Duration.ofSeconds(5)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(sentence);
  }
}
