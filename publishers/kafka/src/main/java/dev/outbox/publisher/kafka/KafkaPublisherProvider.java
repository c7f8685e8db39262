package dev.outbox.publisher.kafka;

import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.core.ProviderProperties;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.PublisherProvider;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
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
            .properties(ProviderProperties.behind(KAFKA, properties))
            .destination(Destination.fromProperties(properties))
            .timeout(timeout);
    Attributes.cloudEventsSource(properties, publisher::cloudEvents);
    return publisher.build();
  }
}
