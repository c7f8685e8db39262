package dev.outbox.publisher.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.spi.publisher.PublisherProvider;
import java.time.Duration;
import java.util.Map;
import java.util.ServiceLoader;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class KafkaPublisherProviderTest {

  @Test
  @DisplayName("is found as a service")
  void found() {
    assertThat(ServiceLoader.load(PublisherProvider.class))
        .extracting(PublisherProvider::name)
        .containsExactly("kafka");
  }

  @Test
  @DisplayName("Kafka's settings lose the prefix")
  void settings() {
    Map<String, String> properties =
        Map.of(
            "kafka.bootstrap.servers", "k:9092",
            "kafka.linger.ms", "5",
            "destination", "shop.{aggregateType}");
    assertThat(KafkaPublisherProvider.settings(properties))
        .isEqualTo(Map.of("bootstrap.servers", "k:9092", "linger.ms", "5"));
  }

  @Test
  @DisplayName("a setting that would break the contract is refused")
  void refused() {
    assertThatThrownBy(
            () ->
                new KafkaPublisherProvider()
                    .open(
                        Map.of("kafka.bootstrap.servers", "127.0.0.1:1", "kafka.acks", "1"),
                        Duration.ofSeconds(5)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("acks is 1, it must be all");
    assertThatThrownBy(
            () ->
                new KafkaPublisherProvider()
                    .open(
                        Map.of(
                            "kafka.bootstrap.servers",
                            "127.0.0.1:1",
                            "destination.order",
                            "{type}"),
                        Duration.ofSeconds(5)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(
            "the property destination.order is {type}, and there is no placeholder {type}: ");
    assertThatThrownBy(
            () ->
                new KafkaPublisherProvider()
                    .open(
                        Map.of(
                            "kafka.bootstrap.servers",
                            "127.0.0.1:1",
                            "publisher.cloudEventsSource",
                            "no uri"),
                        Duration.ofSeconds(5)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("publisher.cloudEventsSource is no uri, which is no URI");
    assertThatThrownBy(() -> new KafkaPublisherProvider().open(Map.of(), Duration.ofSeconds(5)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("bootstrap.servers is missing");
  }
}
