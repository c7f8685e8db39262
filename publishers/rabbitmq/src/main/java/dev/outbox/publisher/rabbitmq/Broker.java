package dev.outbox.publisher.rabbitmq;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.AuthenticationFailureException;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.PossibleAuthenticationFailureException;
import com.rabbitmq.client.SocketConfigurator;
import dev.outbox.publisher.core.BackgroundTasks;
import java.io.IOException;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Where RabbitMQ is, and how to connect to it. */
final class Broker {
  private static final String CONNECTION_NAME = "outbox";
  private static final int CLOSE_MILLIS = 1_000;

  private final Supplier<ConnectionFactory> factories;
  private final Timing timing;
  private final ConnectionFactory factory;
  private final List<Address> addresses;

  /**
   * @param factories gives the user's, which is left as it is, for each connection
   * @param addresses of a cluster; empty for the factory's host and port
   */
  Broker(Supplier<ConnectionFactory> factories, List<Address> addresses, Timing timing) {
    this.factories = factories;
    this.timing = timing;
    factory = factory();
    this.addresses =
        addresses.isEmpty()
            ? List.of(new Address(factory.getHost(), factory.getPort()))
            : List.copyOf(addresses);
  }

  private ConnectionFactory factory() {
    ConnectionFactory given = factories.get();
    ConnectionFactory factory = given.clone();
    // Confirms do not survive a recovery, and a call has to know that its channel is gone.
    factory.setAutomaticRecoveryEnabled(false);
    factory.setTopologyRecoveryEnabled(false);
    // A write that hangs is ended by closing the socket.
    useBlockingIo(factory);
    int connect = Timing.millis(timing.connect());
    factory.setConnectionTimeout(atMost(connect, given.getConnectionTimeout()));
    factory.setHandshakeTimeout(atMost(connect, given.getHandshakeTimeout()));
    factory.setChannelRpcTimeout(
        atMost(Timing.millis(timing.answer()), given.getChannelRpcTimeout()));
    factory.setShutdownTimeout(atMost(CLOSE_MILLIS, given.getShutdownTimeout()));
    if (isDefault(given.getThreadFactory())) {
      factory.setThreadFactory(task -> BackgroundTasks.daemon("outbox-rabbitmq", task));
    }
    return factory;
  }

  /** By its name, because it returns something else in version 5.27 of the client, Boot 4.0's. */
  private static void useBlockingIo(ConnectionFactory factory) {
    try {
      ConnectionFactory.class.getMethod("useBlockingIo").invoke(factory);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "the version of RabbitMQ's client on the class path is not known here: take 5.25 or newer",
          e);
    }
  }

  /** The client takes 0 for no limit. */
  private static int atMost(int limit, int given) {
    return given == 0 ? limit : Math.min(limit, given);
  }

  private static boolean isDefault(ThreadFactory threads) {
    return threads.getClass() == Executors.defaultThreadFactory().getClass();
  }

  /** For people: scheme, hosts, ports and virtual host, without the user. */
  String address() {
    boolean tls = factory.isSSL();
    String hosts =
        addresses.stream()
            .map(a -> a.getHost() + ":" + ConnectionFactory.portOrDefault(a.getPort(), tls))
            .collect(Collectors.joining(","));
    String vhost = factory.getVirtualHost();
    return "%s://%s%s"
        .formatted(
            tls ? "amqps" : "amqp",
            hosts,
            vhost.equals(ConnectionFactory.DEFAULT_VHOST) ? "" : "/" + vhost);
  }

  /** Connects; each of its steps has a time limit. */
  Link connect() throws IOException, TimeoutException {
    AtomicReference<@Nullable Socket> socket = new AtomicReference<>();
    ConnectionFactory once = factory();
    SocketConfigurator users = once.getSocketConfigurator();
    once.setSocketConfigurator(
        made -> {
          users.configure(made);
          socket.set(made);
        });
    Connection connection = once.newConnection(addresses, CONNECTION_NAME);
    Socket used = socket.get();
    if (used == null) {
      connection.abort();
      throw new IOException("the ConnectionFactory does not configure its sockets");
    }
    return new Link(connection, used);
  }

  /** Why there is no connection; null: it was not made in time. */
  String problem(@Nullable Throwable error) {
    String at = "RabbitMQ at " + address();
    if (error == null || error instanceof TimeoutException) {
      return at + " does not answer";
    }
    if (error instanceof AuthenticationFailureException
        || error instanceof PossibleAuthenticationFailureException) {
      return "%s does not let us in: %s".formatted(at, Link.text(error));
    }
    return error instanceof IOException
        ? "%s cannot be reached: %s".formatted(at, Link.text(error))
        : "connecting to %s threw %s".formatted(at, error);
  }
}
