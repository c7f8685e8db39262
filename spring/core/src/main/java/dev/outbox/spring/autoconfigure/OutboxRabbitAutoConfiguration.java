package dev.outbox.spring.autoconfigure;

import com.rabbitmq.client.ConnectionFactory;
import dev.outbox.publisher.rabbitmq.RabbitPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.rabbit.connection.AbstractConnectionFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.amqp.RabbitConnectionDetails;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The publisher of RabbitMQ, which connects as {@code outbox.rabbitmq.uri} or Spring says. */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.autoconfigure.amqp.RabbitAutoConfiguration",
      "org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration"
    })
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
    traces.ifAvailable(present -> publisher.aroundSend(present.send()));
    return publisher.build();
  }

  /**
   * With Spring AMQP the publisher connects as its connection factory does, and so follows {@code
   * spring.rabbitmq.*}, bundles of certificates, Testcontainers and Docker Compose. The client
   * below that factory knows one host only, so the nodes of a cluster come from Boot, by a type
   * that each generation has in another place.
   */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({AbstractConnectionFactory.class, ConnectionFactory.class})
  static class OfSpring {

    @Bean
    @ConditionalOnSingleCandidate(AbstractConnectionFactory.class)
    RabbitConnection outboxRabbitConnection(
        AbstractConnectionFactory connections, ObjectProvider<RabbitAddresses> addresses) {
      ConnectionFactory client = connections.getRabbitConnectionFactory();
      RabbitAddresses known = addresses.getIfAvailable(() -> new RabbitAddresses(List.of()));
      return new RabbitConnection(client, nodes(client, known));
    }

    /**
     * Boot knows addresses, its default at least, beside a factory of the application's own too.
     */
    private static String nodes(ConnectionFactory client, RabbitAddresses known) {
      boolean areItsOwn = known.nodes().contains(client.getHost() + ":" + client.getPort());
      return areItsOwn ? String.join(",", known.nodes()) : "";
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(RabbitConnectionDetails.class)
    static class Boot3 {
      @Bean
      @ConditionalOnBean(RabbitConnectionDetails.class)
      RabbitAddresses outboxRabbitAddresses(RabbitConnectionDetails details) {
        return new RabbitAddresses(
            details.getAddresses().stream()
                .map(address -> address.host() + ":" + address.port())
                .toList());
      }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(org.springframework.boot.amqp.autoconfigure.RabbitConnectionDetails.class)
    static class Boot4 {
      @Bean
      @ConditionalOnBean(org.springframework.boot.amqp.autoconfigure.RabbitConnectionDetails.class)
      RabbitAddresses outboxRabbitAddresses(
          org.springframework.boot.amqp.autoconfigure.RabbitConnectionDetails details) {
        return new RabbitAddresses(
            details.getAddresses().stream()
                .map(address -> address.host() + ":" + address.port())
                .toList());
      }
    }
  }
}
