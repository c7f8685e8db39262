package dev.outbox.publisher.rabbitmq;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.ConnectionFactory;
import java.net.URI;
import java.net.URISyntaxException;
import java.security.GeneralSecurityException;
import java.util.List;
import javax.net.ssl.SSLContext;

/** Addresses as users write them. */
final class Uris {
  private Uris() {}

  /** With certificates checked, which the client leaves to its user. */
  static ConnectionFactory factory(String uri) {
    ConnectionFactory factory = new ConnectionFactory();
    try {
      URI parsed = new URI(uri);
      if (parsed.getHost() == null) { // also when the port is no number; the client takes localhost
        throw new URISyntaxException("", "no host");
      }
      factory.setUri(parsed);
      if (factory.isSSL()) {
        factory.useSslProtocol(SSLContext.getDefault());
        factory.enableHostnameVerification();
      }
      return factory;
    } catch (URISyntaxException | GeneralSecurityException | RuntimeException e) {
      // Neither the URI nor the exception is shown: a password may stand in it.
      throw new IllegalArgumentException(
          "the URI of RabbitMQ is none: it must be amqp://user:password@host:port/vhost, or amqps:"
              + " for TLS, with special characters as %40");
    }
  }

  static List<Address> addresses(String addresses) {
    try {
      return List.of(Address.parseAddresses(addresses));
    } catch (RuntimeException e) {
      throw new IllegalArgumentException(
          "addresses is %s: it must be host:port,host:port".formatted(addresses));
    }
  }
}
