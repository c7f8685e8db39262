package dev.outbox.publisher.kafka;

import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.PublisherProvider;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.AbstractConfig;

/** Opens a {@link KafkaPublisher} from the properties of a relay. */
public final class KafkaPublisherProvider implements PublisherProvider {
  private static final String KAFKA = "kafka.";

  @Override
  public String name() {
    return "kafka";
  }

  /** With the names that Kafka knows: Kafka itself only warns of others, in a log. */
  @Override
  public Set<String> properties() {
    Set<String> names = new TreeSet<>();
    ProducerConfig.configNames().forEach(name -> names.add(KAFKA + name));
    names.add(KAFKA + AbstractConfig.CONFIG_PROVIDERS_CONFIG + ".");
    names.addAll(Destination.properties(Destination.PROPERTY));
    names.add(Attributes.CLOUD_EVENTS_SOURCE);
    return names;
  }

  @Override
  public MessagePublisher open(Map<String, String> properties, Duration timeout) {
    KafkaPublisher.Builder publisher =
        KafkaPublisher.builder()
            .properties(settings(properties))
            .destination(Destination.fromProperties(properties))
            .timeout(timeout);
    URI source = Attributes.cloudEventsSource(properties, Attributes.CLOUD_EVENTS_SOURCE);
    if (source != null) {
      publisher.cloudEvents(source);
    }
    return publisher.build();
  }

  /** Kafka's own settings, without our prefix. */
  static Map<String, String> settings(Map<String, String> properties) {
    Map<String, String> settings = new TreeMap<>();
    properties.forEach(
        (name, value) -> {
          if (name.startsWith(KAFKA)) {
            settings.put(name.substring(KAFKA.length()), value);
          }
        });
    return settings;
  }
}
