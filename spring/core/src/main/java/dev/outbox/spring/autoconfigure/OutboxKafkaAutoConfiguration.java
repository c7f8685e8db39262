package dev.outbox.spring.autoconfigure;

import dev.outbox.publisher.kafka.KafkaPublisher;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.kafka.core.ProducerFactory;

/**
 * The publisher of Kafka. How its brokers are reached is, in this order: what {@code
 * outbox.kafka.properties} say; what Spring for Apache Kafka was told; {@code
 * spring.kafka.bootstrap-servers}.
 */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.autoconfigure.kafka.KafkaAutoConfiguration",
      "org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration"
    })
@ConditionalOnClass(KafkaPublisher.class)
@ConditionalOnBooleanProperty(
    name = {"outbox.enabled", "outbox.relay.enabled"},
    matchIfMissing = true)
@EnableConfigurationProperties(OutboxProperties.class)
final class OutboxKafkaAutoConfiguration {
  private static final String BOOTSTRAP = "bootstrap.servers";

  @Bean
  OfferedPublisher outboxKafkaPublisher(
      OutboxProperties properties,
      ObjectProvider<KafkaConnection> connection,
      ObjectProvider<Traces> traces,
      Environment environment) {
    return new OfferedPublisher(
        "kafka",
        "Kafka",
        "Set spring.kafka.bootstrap-servers, or correct outbox.kafka.* or outbox.destination.",
        properties.kafka(),
        timeout -> {
          KafkaPublisher.Builder publisher =
              publisher(properties, connection, environment).timeout(timeout);
          traces.ifAvailable(present -> publisher.aroundSend(present.send()));
          return publisher.build();
        });
  }

  private static KafkaPublisher.Builder publisher(
      OutboxProperties properties,
      ObjectProvider<KafkaConnection> connection,
      Environment environment) {
    OutboxProperties.Kafka kafka = properties.kafka();
    KafkaPublisher.Builder publisher =
        KafkaPublisher.builder()
            .destination(new PublisherProperties(properties, kafka).destination());
    Binder.get(environment)
        .bind("spring.kafka.bootstrap-servers", Bindable.listOf(String.class))
        .ifBound(servers -> publisher.property(BOOTSTRAP, String.join(",", servers)));
    connection.ifAvailable(spring -> publisher.properties(spring.settings()));
    publisher.properties(kafka.properties());
    if (kafka.cloudEventsSource() != null) {
      publisher.cloudEvents(kafka.cloudEventsSource());
    }
    return publisher;
  }

  /**
   * With Spring for Apache Kafka the publisher connects as its producers do. In each generation of
   * Boot {@code spring.kafka.*}, certificate bundles, Testcontainers and Docker Compose all end in
   * the producer factory, so the publisher follows them.
   */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(ProducerFactory.class)
  static class OfSpring {

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
}
