package dev.outbox.spring.autoconfigure;

import com.rabbitmq.client.ConnectionFactory;
import dev.outbox.publisher.handler.HandlerPublisher;
import dev.outbox.publisher.http.HttpPublisherProvider;
import dev.outbox.publisher.kafka.KafkaPublisher;
import dev.outbox.publisher.nats.NatsPublisherProvider;
import dev.outbox.publisher.rabbitmq.RabbitPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spring.PayloadReader;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.springframework.amqp.rabbit.connection.AbstractConnectionFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.amqp.RabbitConnectionDetails;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.kafka.core.ProducerFactory;

/**
 * The publisher: the one whose jar is there, or those that are chosen. How a broker is reached is
 * what the outbox's properties say, or else what Spring was told.
 */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.autoconfigure.amqp.RabbitAutoConfiguration",
      "org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration",
      "org.springframework.boot.autoconfigure.kafka.KafkaAutoConfiguration",
      "org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration"
    })
@ConditionalOnBooleanProperty(
    name = {"outbox.enabled", "outbox.relay.enabled"},
    matchIfMissing = true)
@EnableConfigurationProperties(OutboxProperties.class)
final class OutboxPublisherAutoConfiguration {

  /** Methods of beans that handle messages. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(HandlerPublisher.class)
  static class Handlers {
    @Bean
    HandlerMethods outboxHandlerMethods(
        OutboxProperties properties,
        ListableBeanFactory beans,
        ObjectProvider<PayloadReader> reader) {
      return new HandlerMethods(properties.handlers(), beans, reader);
    }
  }

  /** CloudEvents over HTTP. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(HttpPublisherProvider.class)
  static class Http {
    @Bean
    OfferedPublisher outboxHttpPublisher(OutboxProperties properties) {
      OutboxProperties.Http http = properties.http();
      return new OfferedPublisher(
          "http",
          "HTTP",
          "Set outbox.http.destination and outbox.http.cloud-events-source, or correct outbox.http.*.",
          http,
          timeout ->
              new PublisherProperties(properties, http)
                  .cloudEventsSource(http.cloudEventsSource())
                  .given("http.mode", http.mode())
                  .list("http.signingSecrets", http.signingSecrets())
                  .under("http.header.", http.headers())
                  .list("http.copiedHeaders", http.copiedHeaders())
                  .given("http.maxInFlight", http.maxInFlight())
                  .open(new HttpPublisherProvider(), timeout));
    }
  }

  /** NATS JetStream. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(NatsPublisherProvider.class)
  static class Nats {
    @Bean
    OfferedPublisher outboxNatsPublisher(OutboxProperties properties) {
      OutboxProperties.Nats nats = properties.nats();
      return new OfferedPublisher(
          "nats",
          "NATS",
          "Set outbox.nats.servers, or correct outbox.nats.* or outbox.destination.",
          nats,
          timeout ->
              new PublisherProperties(properties, nats)
                  .cloudEventsSource(nats.cloudEventsSource())
                  .list("nats.servers", nats.servers())
                  .under("nats.", nats.properties())
                  .open(new NatsPublisherProvider(), timeout));
    }
  }

  /**
   * Kafka. Its brokers are reached, in this order, as {@code outbox.kafka.properties} say; as
   * Spring for Apache Kafka was told; as {@code spring.kafka.bootstrap-servers} say.
   */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(KafkaPublisher.class)
  static class Kafka {
    @Bean
    OfferedPublisher outboxKafkaPublisher(
        OutboxProperties properties,
        ObjectProvider<KafkaConnection> connection,
        ObjectProvider<Traces> traces,
        Environment environment) {
      OutboxProperties.Kafka kafka = properties.kafka();
      return new OfferedPublisher(
          "kafka",
          "Kafka",
          "Set spring.kafka.bootstrap-servers, or correct outbox.kafka.* or outbox.destination.",
          kafka,
          timeout -> {
            KafkaPublisher.Builder publisher =
                KafkaPublisher.builder()
                    .destination(new PublisherProperties(properties, kafka).destination())
                    .timeout(timeout);
            Binder.get(environment)
                .bind("spring.kafka.bootstrap-servers", Bindable.listOf(String.class))
                .ifBound(
                    servers -> publisher.property("bootstrap.servers", String.join(",", servers)));
            connection.ifAvailable(spring -> publisher.properties(spring.settings()));
            publisher.properties(kafka.properties());
            if (kafka.cloudEventsSource() != null) {
              publisher.cloudEvents(kafka.cloudEventsSource());
            }
            traces.ifAvailable(present -> publisher.aroundSend(present.send()));
            return publisher.build();
          });
    }
  }

  /** How the application reaches its brokers and logs in, as settings of a Kafka client. */
  record KafkaConnection(Map<String, Object> settings) {

    /** Without what may be secret. */
    @Override
    public String toString() {
      return "settings " + settings.keySet();
    }
  }

  /**
   * With Spring for Apache Kafka the publisher connects as its producers do. In each generation of
   * Boot {@code spring.kafka.*}, certificate bundles, Testcontainers and Docker Compose all end in
   * the producer factory, so the publisher follows them.
   */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({KafkaPublisher.class, ProducerFactory.class})
  static class KafkaOfSpring {

    /**
     * The connection, and nothing else: how other producers batch, retry and serialise is their own
     * business. A bundle of certificates travels under the name of its class.
     */
    private static final Pattern TAKEN =
        Pattern.compile(
            "bootstrap\\.servers|client\\.dns\\.lookup|compression\\..*|(security|ssl|sasl)\\..*|org\\.springframework\\.boot\\.ssl\\..*");

    @Bean
    @ConditionalOnSingleCandidate(ProducerFactory.class)
    KafkaConnection outboxKafkaConnection(ProducerFactory<?, ?> producers) {
      Map<String, Object> taken = new TreeMap<>(producers.getConfigurationProperties());
      taken.keySet().removeIf(name -> !TAKEN.matcher(name).matches());
      // Boot has a list; the publisher's logs and errors say the text.
      taken.replaceAll(
          (name, value) ->
              value instanceof Collection<?> several
                  ? several.stream().map(String::valueOf).collect(Collectors.joining(","))
                  : value);
      return new KafkaConnection(taken);
    }
  }

  /** RabbitMQ, as {@code outbox.rabbitmq.uri} or Spring says. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(RabbitPublisher.class)
  static class Rabbit {
    private static final String ROUTING_KEY = "routingKey";

    @Bean
    OfferedPublisher outboxRabbitPublisher(
        OutboxProperties properties,
        ObjectProvider<RabbitConnection> connection,
        ObjectProvider<Traces> traces) {
      OutboxProperties.Rabbitmq rabbit = properties.rabbitmq();
      return new OfferedPublisher(
          "rabbitmq",
          "RabbitMQ",
          "Set spring.rabbitmq.*, with Boot's starter for AMQP, or outbox.rabbitmq.uri; or correct outbox.rabbitmq.* or outbox.destination.",
          rabbit,
          timeout -> {
            PublisherProperties words =
                new PublisherProperties(properties, rabbit)
                    .patterns(ROUTING_KEY, rabbit.routingKey(), rabbit.routingKeys());
            RabbitPublisher.Builder publisher =
                RabbitPublisher.builder()
                    .destination(words.destination())
                    .routingKey(words.patterns(ROUTING_KEY))
                    .timeout(timeout);
            RabbitConnection spring = connection.getIfAvailable();
            if (rabbit.uri() != null) {
              publisher.uri(rabbit.uri());
            } else if (spring != null) {
              publisher.connectionFactory(spring.factory());
              if (!spring.addresses().isEmpty()) {
                publisher.addresses(spring.addresses());
              }
            }
            traces.ifAvailable(present -> publisher.aroundSend(present.send()));
            return publisher.build();
          });
    }
  }

  /**
   * How the application reaches RabbitMQ and logs in.
   *
   * @param factory of RabbitMQ's client, as Spring has set it up
   * @param addresses the nodes, with commas; empty: the host of the factory
   */
  record RabbitConnection(ConnectionFactory factory, String addresses) {

    /** Without what may be secret. */
    @Override
    public String toString() {
      return addresses;
    }
  }

  /**
   * The nodes of a RabbitMQ that Boot knows.
   *
   * @param nodes each as {@code rabbit-1:5672}
   */
  record RabbitAddresses(List<String> nodes) {}

  /**
   * With Spring AMQP the publisher connects as its connection factory does, and so follows {@code
   * spring.rabbitmq.*}, bundles of certificates, Testcontainers and Docker Compose. The client
   * below that factory knows one host only, so the nodes of a cluster come from Boot, by a type
   * that each generation has in another place.
   */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({RabbitPublisher.class, AbstractConnectionFactory.class})
  static class RabbitOfSpring {

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
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({RabbitPublisher.class, RabbitConnectionDetails.class})
  static class RabbitOfBoot3 {
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
  @ConditionalOnClass({
    RabbitPublisher.class,
    org.springframework.boot.amqp.autoconfigure.RabbitConnectionDetails.class
  })
  static class RabbitOfBoot4 {
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

  /** Where one is chosen and none is there, somebody has to say so. */
  static final class OfferedOrChosen extends AnyNestedCondition {
    OfferedOrChosen() {
      super(ConfigurationPhase.REGISTER_BEAN);
    }

    @ConditionalOnBean(OfferedPublisher.class)
    static final class Offered {}

    @ConditionalOnBean(HandlerMethods.class)
    static final class Handled {}

    @Conditional(NamesOne.class)
    static final class Chosen {}
  }

  /** As a list of YAML's too, which is no property of that name. */
  static final class NamesOne implements Condition {
    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
      return !Binder.get(context.getEnvironment())
          .bind(Publishers.PROPERTY, Bindable.listOf(String.class))
          .orElse(List.of())
          .isEmpty();
    }
  }

  @Bean
  @ConditionalOnMissingBean(MessagePublisher.class)
  @Conditional(OfferedOrChosen.class)
  Publishers outboxPublishers(
      OutboxProperties properties,
      ObjectProvider<OfferedPublisher> offered,
      ObjectProvider<HandlerMethods> handlers) {
    return new Publishers(properties, offered, handlers.getIfAvailable());
  }

  @Bean(destroyMethod = "close")
  @ConditionalOnBean(Publishers.class)
  MessagePublisher outboxPublisher(Publishers publishers) {
    return publishers.open();
  }
}
