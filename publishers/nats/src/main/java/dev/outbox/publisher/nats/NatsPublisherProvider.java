package dev.outbox.publisher.nats;

import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.core.ProviderProperties;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.PublisherProvider;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;

/** Opens a {@link NatsPublisher} from the properties of a relay. */
public final class NatsPublisherProvider implements PublisherProvider {
  private static final String NATS = "nats.";
  private static final String SERVERS = "nats.servers";

  /** What the client calls its properties; those that only make sense in code are left out. */
  private static final String CLIENT = "io.nats.client.";

  private static final List<String> SETTINGS =
      List.of(
          "username",
          "password",
          "token",
          "credential.path",
          "name",
          "inbox.prefix",
          "secure",
          "opentls",
          "tls.first",
          "tls.algorithm",
          "keyStore",
          "keyStorePassword",
          "trustStore",
          "trustStorePassword",
          "norandomize");

  @Override
  public String name() {
    return "nats";
  }

  @Override
  public Set<String> properties() {
    Set<String> names = new TreeSet<>(Destination.properties(Destination.PROPERTY));
    names.addAll(Set.of(SERVERS, Attributes.CLOUD_EVENTS_SOURCE));
    SETTINGS.forEach(setting -> names.add(NATS + setting));
    return names;
  }

  @Override
  public MessagePublisher open(Map<String, String> properties, Duration timeout) {
    NatsPublisher.Builder publisher =
        NatsPublisher.builder()
            .timeout(timeout)
            .destination(
                Destination.fromProperties(
                    properties, Destination.PROPERTY, NatsPublisher.DEFAULT_DESTINATION));
    ProviderProperties.given(
        properties, SERVERS, servers -> publisher.servers(ProviderProperties.words(servers)));
    Attributes.cloudEventsSource(properties, publisher::cloudEvents);
    Properties settings = settings(properties);
    return publisher.options(options -> options.properties(settings)).build();
  }

  /** Under the client's names. */
  static Properties settings(Map<String, String> properties) {
    Properties settings = new Properties();
    for (String setting : SETTINGS) {
      String value = properties.get(NATS + setting);
      if (value != null) {
        settings.setProperty(CLIENT + setting, value);
      }
    }
    return settings;
  }
}
