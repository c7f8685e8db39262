package dev.outbox.publisher.rabbitmq;

import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.ConnectionFactoryConfigurator;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.core.ProviderProperties;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.PublisherProvider;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Opens a {@link RabbitPublisher} from the properties of a relay. Those that begin with {@code
 * rabbitmq.} are those of RabbitMQ's own client, by its names; {@code rabbitmq.addresses} is ours.
 */
public final class RabbitPublisherProvider implements PublisherProvider {
  private static final String RABBITMQ = "rabbitmq.";
  private static final String URI = "uri";
  private static final String ADDRESSES = "addresses";
  private static final String ROUTING_KEY = "routingKey";

  private static final List<String> NUMBERS =
      List.of(
          ConnectionFactoryConfigurator.PORT,
          ConnectionFactoryConfigurator.CONNECTION_CHANNEL_MAX,
          ConnectionFactoryConfigurator.CONNECTION_FRAME_MAX,
          ConnectionFactoryConfigurator.CONNECTION_HEARTBEAT,
          ConnectionFactoryConfigurator.CONNECTION_TIMEOUT,
          ConnectionFactoryConfigurator.HANDSHAKE_TIMEOUT,
          ConnectionFactoryConfigurator.CHANNEL_RPC_TIMEOUT);

  private static final List<String> OTHERS =
      List.of(
          URI,
          ADDRESSES,
          ConnectionFactoryConfigurator.HOST,
          ConnectionFactoryConfigurator.USERNAME,
          ConnectionFactoryConfigurator.PASSWORD,
          ConnectionFactoryConfigurator.VIRTUAL_HOST,
          ConnectionFactoryConfigurator.CLIENT_PROPERTIES_PREFIX,
          ConnectionFactoryConfigurator.SSL_ENABLED,
          ConnectionFactoryConfigurator.SSL_ALGORITHM,
          ConnectionFactoryConfigurator.SSL_KEY_STORE,
          ConnectionFactoryConfigurator.SSL_KEY_STORE_PASSWORD,
          ConnectionFactoryConfigurator.SSL_KEY_STORE_TYPE,
          ConnectionFactoryConfigurator.SSL_KEY_STORE_ALGORITHM,
          ConnectionFactoryConfigurator.SSL_TRUST_STORE,
          ConnectionFactoryConfigurator.SSL_TRUST_STORE_PASSWORD,
          ConnectionFactoryConfigurator.SSL_TRUST_STORE_TYPE,
          ConnectionFactoryConfigurator.SSL_TRUST_STORE_ALGORITHM,
          ConnectionFactoryConfigurator.SSL_VALIDATE_SERVER_CERTIFICATE,
          ConnectionFactoryConfigurator.SSL_VERIFY_HOSTNAME);

  @Override
  public String name() {
    return "rabbitmq";
  }

  @Override
  public Set<String> properties() {
    Set<String> names = new TreeSet<>();
    NUMBERS.forEach(name -> names.add(RABBITMQ + name));
    OTHERS.forEach(name -> names.add(RABBITMQ + name));
    names.addAll(Destination.properties(Destination.PROPERTY));
    names.addAll(Destination.properties(ROUTING_KEY));
    return names;
  }

  @Override
  public MessagePublisher open(Map<String, String> properties, Duration timeout) {
    RabbitPublisher.Builder publisher =
        RabbitPublisher.builder()
            .connectionFactories(() -> factory(settings(properties))) // files are read anew
            .destination(Destination.fromProperties(properties))
            .routingKey(
                Destination.fromProperties(properties, ROUTING_KEY, RabbitPublisher.ROUTING_KEY))
            .timeout(timeout);
    String addresses = properties.getOrDefault(RABBITMQ + ADDRESSES, "");
    if (!addresses.isEmpty()) {
      publisher.addresses(addresses);
    }
    return publisher.build();
  }

  /** Those of RabbitMQ's client, without our prefix; empty ones are none. */
  private static Map<String, String> settings(Map<String, String> properties) {
    Map<String, String> settings = ProviderProperties.behind(RABBITMQ, properties);
    settings.values().removeIf(String::isEmpty);
    return settings;
  }

  /**
   * Certificates are checked unless that is switched off; the client has it the other way round.
   */
  private static ConnectionFactory factory(Map<String, String> settings) {
    String uri = settings.remove(URI);
    if (uri == null
        && !settings.containsKey(ADDRESSES)
        && !settings.containsKey(ConnectionFactoryConfigurator.HOST)) {
      throw new IllegalArgumentException(
          "rabbitmq.uri is missing: say where RabbitMQ is, as in amqp://user@localhost:5672, with the"
              + " password in rabbitmq.password");
    }
    for (String name : NUMBERS) {
      String value = settings.getOrDefault(name, "0");
      if (!value.matches("\\d{1,9}")) {
        throw new IllegalArgumentException(
            "%s%s is %s, it must be a number".formatted(RABBITMQ, name, value));
      }
    }
    ConnectionFactory factory = uri == null ? new ConnectionFactory() : Uris.factory(uri);
    settings.putIfAbsent(ConnectionFactoryConfigurator.SSL_VALIDATE_SERVER_CERTIFICATE, "true");
    settings.putIfAbsent(ConnectionFactoryConfigurator.SSL_VERIFY_HOSTNAME, "true");
    try {
      return factory.load(settings, "");
    } catch (RuntimeException e) {
      throw new IllegalArgumentException(
          "the settings in rabbitmq.ssl are wrong: " + Link.text(e), e);
    }
  }
}
