package dev.outbox.spring.autoconfigure;

import dev.outbox.publisher.rabbitmq.RabbitPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** The publisher of RabbitMQ, which connects as {@code outbox.rabbitmq.uri} or Spring says. */
@AutoConfiguration(after = OutboxSpringRabbitAutoConfiguration.class)
@ConditionalOnClass(RabbitPublisher.class)
@ConditionalOnBooleanProperty(
    name = {"outbox.enabled", "outbox.relay.enabled"},
    matchIfMissing = true)
@EnableConfigurationProperties(OutboxProperties.class)
final class OutboxRabbitAutoConfiguration {
  private static final String ROUTING_KEY = "routingKey";

  @Bean
  OfferedPublisher outboxRabbitPublisher(
      OutboxProperties properties,
      ObjectProvider<RabbitConnection> connection,
      ObjectProvider<Traces> traces) {
    return new OfferedPublisher(
        "rabbitmq",
        "RabbitMQ",
        "Set spring.rabbitmq.*, with Boot's starter for AMQP, or outbox.rabbitmq.uri; or correct outbox.rabbitmq.* or outbox.destination.",
        properties.rabbitmq(),
        timeout -> publisher(properties, connection.getIfAvailable(), traces, timeout));
  }

  private static MessagePublisher publisher(
      OutboxProperties properties,
      @Nullable RabbitConnection connection,
      ObjectProvider<Traces> traces,
      Duration timeout) {
    OutboxProperties.Rabbitmq rabbit = properties.rabbitmq();
    PublisherProperties words =
        new PublisherProperties(properties, rabbit)
            .patterns(ROUTING_KEY, rabbit.routingKey(), rabbit.routingKeys());
    RabbitPublisher.Builder publisher =
        RabbitPublisher.builder()
            .destination(words.destination())
            .routingKey(words.patterns(ROUTING_KEY))
            .timeout(timeout);
    if (rabbit.uri() != null) {
      publisher.uri(rabbit.uri());
    } else if (connection != null) {
      publisher.connectionFactory(connection.factory());
      if (!connection.addresses().isEmpty()) {
        publisher.addresses(connection.addresses());
      }
    }
    if (rabbit.pipelined()) {
      publisher.pipelined();
    }
    traces.ifAvailable(present -> publisher.aroundSend(present::send));
    return publisher.build();
  }
}
