package dev.outbox.dev;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.ConnectionFactory;
import java.net.URISyntaxException;
import java.security.GeneralSecurityException;
import java.util.Map;
import java.util.UUID;

/** What consumers of the demo and of the torture do with RabbitMQ's client. */
public final class RabbitClient {
  private static final int CONNECT_MILLIS = 2_000;
  private static final int HEARTBEAT_SECONDS = 5;

  /** Declares a queue that keeps what it has confirmed. */
  public static final Map<String, Object> QUORUM = Map.of("x-queue-type", "quorum");

  private RabbitClient() {}

  /** Connections end when something is wrong with them. */
  public static ConnectionFactory factory(String uri) {
    try {
      ConnectionFactory factory = new ConnectionFactory();
      factory.setUri(uri);
      factory.setAutomaticRecoveryEnabled(false);
      factory.setConnectionTimeout(CONNECT_MILLIS);
      factory.setRequestedHeartbeat(HEARTBEAT_SECONDS);
      return factory;
    } catch (URISyntaxException | GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Nobody has appended one of zeros. */
  public static UUID id(BasicProperties properties) {
    return UUID.fromString(header(properties, "outbox-id", new UUID(0, 0).toString()));
  }

  public static String key(BasicProperties properties) {
    return header(properties, "outbox-key", "");
  }

  /** Its place in the outbox. */
  public static long sequence(BasicProperties properties) {
    return Long.parseLong(header(properties, "outbox-sequence", "-1"));
  }

  private static String header(BasicProperties properties, String name, String otherwise) {
    Map<String, Object> headers = properties.getHeaders();
    return headers == null ? otherwise : headers.getOrDefault(name, otherwise).toString();
  }
}
