package dev.outbox.spring.autoconfigure;

import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.core.ProducerFactory;

/**
 * With Spring for Apache Kafka the publisher connects as its producers do. In each generation of
 * Boot {@code spring.kafka.*}, certificate bundles, Testcontainers and Docker Compose all end in
 * the producer factory, so the publisher follows them.
 */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.autoconfigure.kafka.KafkaAutoConfiguration",
      "org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration"
    })
@ConditionalOnClass(ProducerFactory.class)
@ConditionalOnBooleanProperty(
    name = {"outbox.enabled", "outbox.relay.enabled"},
    matchIfMissing = true)
final class OutboxSpringKafkaAutoConfiguration {

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
