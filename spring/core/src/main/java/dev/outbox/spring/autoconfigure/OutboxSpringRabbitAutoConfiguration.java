package dev.outbox.spring.autoconfigure;

import com.rabbitmq.client.ConnectionFactory;
import java.util.List;
import org.springframework.amqp.rabbit.connection.AbstractConnectionFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.amqp.RabbitConnectionDetails;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * With Spring AMQP the publisher connects as its connection factory does, and so follows {@code
 * spring.rabbitmq.*}, bundles of certificates, Testcontainers and Docker Compose. The client below
 * that factory knows one host only, so the nodes of a cluster come from Boot, by a type that each
 * generation has in another place.
 */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.autoconfigure.amqp.RabbitAutoConfiguration",
      "org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration"
    })
@ConditionalOnClass({AbstractConnectionFactory.class, ConnectionFactory.class})
@ConditionalOnBooleanProperty(
    name = {"outbox.enabled", "outbox.relay.enabled"},
    matchIfMissing = true)
final class OutboxSpringRabbitAutoConfiguration {

  @Bean
  @ConditionalOnSingleCandidate(AbstractConnectionFactory.class)
  RabbitConnection outboxRabbitConnection(
      AbstractConnectionFactory connections, ObjectProvider<RabbitAddresses> addresses) {
    ConnectionFactory client = connections.getRabbitConnectionFactory();
    RabbitAddresses known = addresses.getIfAvailable(() -> new RabbitAddresses(List.of()));
    return new RabbitConnection(client, nodes(client, known));
  }

  /** Boot knows addresses, its default at least, beside a factory of the application's own too. */
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
