package dev.outbox.spring.autoconfigure;

import dev.outbox.consumer.kafka.ConsumerStatus;
import dev.outbox.consumer.kafka.ConsumerStatus.State;
import dev.outbox.consumer.kafka.KafkaInboxConsumer;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.beans.factory.ObjectProvider;

/**
 * How the consumers of Kafka with an inbox are, for either generation of Boot. What they wait for
 * is told and is no reason to be down: a restart would not help.
 */
final class ConsumerHealth {
  private final ObjectProvider<KafkaInboxConsumer<?, ?, ?>> consumers;

  ConsumerHealth(ObjectProvider<KafkaInboxConsumer<?, ?, ?>> consumers) {
    this.consumers = consumers;
  }

  /**
   * Each consumer's state, by its name.
   *
   * @throws RuntimeException when one has failed, saying why
   */
  Map<String, Object> check() {
    Map<String, Object> details = new TreeMap<>();
    consumers.forEach(consumer -> details.put(consumer.name(), state(consumer)));
    return details;
  }

  private static String state(KafkaInboxConsumer<?, ?, ?> consumer) {
    ConsumerStatus status = consumer.status();
    if (status.state() == State.FAILED) {
      throw new IllegalStateException(
          "consumer %s has ended, restart the application: %s"
              .formatted(consumer.name(), status.error()),
          status.error());
    }
    String state = status.state().name().toLowerCase(Locale.ROOT);
    return status.error() == null
        ? state
        : "%s since %s: %s".formatted(state, status.since(), status.error());
  }
}
