package dev.outbox.publisher.rabbitmq;

import static dev.outbox.embedded.TestMessages.message;
import static dev.outbox.embedded.TestMessages.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.GetResponse;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RabbitPublisherProviderTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private static MessagePublisher open(Map<String, String> properties) {
    return new RabbitPublisherProvider().open(properties, TIMEOUT);
  }

  @Test
  @DisplayName("exchange and routing key are patterns, others for single aggregate types")
  void destinations() throws Exception {
    String name = TestRabbit.exchange();
    Map<String, String> properties =
        Map.of(
            "rabbitmq.uri",
            TestRabbit.uri(),
            "destination",
            name,
            "destination.direct",
            "amq.default",
            "routingKey",
            "shop.{aggregateType}.{eventType}",
            "routingKey.direct",
            name);
    try (MessagePublisher publisher = open(properties)) {
      assertThat(
              publisher.publish(
                  List.of(
                      stored(message("order", "a").eventType("OrderPlaced")),
                      stored(message("direct", "a").eventType("OrderPaid")))))
          .containsOnly(Result.delivered());
    }
    List<GetResponse> arrived = TestRabbit.read(name);
    assertThat(arrived)
        .extracting(m -> m.getEnvelope().getRoutingKey())
        .containsExactly("shop.order.OrderPlaced", name);
    assertThat(arrived).extracting(m -> m.getEnvelope().getExchange()).containsExactly(name, "");
  }

  @Test
  @DisplayName("the parts of a URI may be given apart, in the words of RabbitMQ's client")
  void parts() throws Exception {
    Map<String, String> properties =
        Map.of(
            "rabbitmq.host", "rabbit.example",
            "rabbitmq.port", "5673",
            "rabbitmq.username", "me",
            "rabbitmq.password", "secret-7",
            "rabbitmq.virtual.host", "shop",
            "rabbitmq.client.properties.team", "orders",
            "rabbitmq.ssl.trust.store", "");
    try (MessagePublisher publisher = open(properties)) {
      assertThat(publisher.address()).isEqualTo("amqp://rabbit.example:5673/shop");
    }
    Map<String, String> tls = new HashMap<>(properties);
    tls.put("rabbitmq.ssl.enabled", "true");
    tls.put("rabbitmq.addresses", "a,b:1");
    try (MessagePublisher publisher = open(tls)) {
      assertThat(publisher.address()).isEqualTo("amqps://a:5671,b:1/shop");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "rabbitmq.username | me | rabbitmq.uri is missing",
        "rabbitmq.uri | http://a:secret-7@b | the URI of RabbitMQ is none: it must be amqp://",
        "rabbitmq.uri | amqp://a:secret-7@b:x | the URI of RabbitMQ is none: it must be amqp://",
        "rabbitmq.uri | amqp://a:secret-7 b@c | the URI of RabbitMQ is none: it must be amqp://",
        "rabbitmq.port | x | rabbitmq.port is x, it must be a number",
        "rabbitmq.addresses | a:b:c:x | addresses is a:b:c:x: it must be host:port,host:port",
        "routingKey.order | {type} | the property routingKey.order is {type}, and there is no",
        "rabbitmq.ssl.trust.store | /no/such/file | the settings in rabbitmq.ssl are wrong: ",
      })
  @DisplayName("what cannot be meant is refused, without a password")
  void refused(String name, String value, String sentence) {
    Map<String, String> properties = new HashMap<>();
    properties.put(name, value);
    if (!name.equals("rabbitmq.username")) {
      properties.putIfAbsent("rabbitmq.host", "localhost");
    }
    properties.put("rabbitmq.ssl.enabled", "true");
    assertThatThrownBy(() -> open(properties))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(sentence)
        .hasMessageNotContaining("secret-7");
  }

  @Test
  @DisplayName("the builder refuses a missing URI and a timeout that is no use")
  void builder() {
    assertThatThrownBy(() -> RabbitPublisher.builder().build())
        .hasMessageStartingWith("the URI is missing");
    assertThatThrownBy(() -> TestRabbit.publisher().timeout(Duration.ofMillis(999)).build())
        .hasMessageStartingWith("timeout is 999ms, allowed is from 1s to 1h");
  }
}
