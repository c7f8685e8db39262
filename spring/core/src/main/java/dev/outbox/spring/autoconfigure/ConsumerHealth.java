package dev.outbox.spring.autoconfigure;

import dev.outbox.consumer.kafka.ConsumerStatus;
import dev.outbox.consumer.kafka.ConsumerStatus.State;
import dev.outbox.consumer.kafka.KafkaInboxConsumer;
import dev.outbox.spring.autoconfigure.OutboxHealth.Checked;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.beans.factory.ListableBeanFactory;

/**
 * How the consumers of Kafka with an inbox are, for either generation of Boot. What they wait for
 * is told and is no reason to be down: a restart would not help.
 */
final class ConsumerHealth {
  private ConsumerHealth() {}

  /** Each consumer's state, by its name. It is down when one has failed. */
  static Checked check(ListableBeanFactory beans) {
    Map<String, Object> details = new TreeMap<>();
    boolean up = true;
    for (KafkaInboxConsumer<?, ?, ?> consumer : beans.getBeanProvider(KafkaInboxConsumer.class)) {
      ConsumerStatus status = consumer.status();
      details.put(consumer.name(), text(status));
      up &= status.state() != State.FAILED;
    }
    return new Checked(up, details);
  }

  private static String text(ConsumerStatus status) {
    String state = status.state().name().toLowerCase(Locale.ROOT);
    if (status.error() == null) {
      return state;
    }
    String since = "%s since %s: %s".formatted(state, status.since(), status.error());
    return status.state() == State.FAILED ? since + "; restart the application" : since;
  }
}
