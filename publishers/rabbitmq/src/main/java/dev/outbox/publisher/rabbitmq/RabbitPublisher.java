package dev.outbox.publisher.rabbitmq;

import static java.util.Objects.requireNonNull;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.ConnectionFactory;
import dev.outbox.publisher.core.BackgroundTasks;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.core.Reconnecting;
import dev.outbox.publisher.core.Reconnecting.NoConnectionException;
import dev.outbox.publisher.core.SilentPlaces;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Publishes to RabbitMQ with publisher confirms, over AMQP 0-9-1. Safe for use by many threads, as
 * long as calls at the same time have no key in common; claims have none (C1).
 *
 * <p><b>Order (P2).</b> The broker may take a message although it did not take the one before it on
 * the same channel. So one message of a key is on its way at a time; different keys do not wait for
 * each other. Order holds in each queue; which consumers keep it is another matter
 * (docs/rabbitmq.md).
 *
 * <p><b>A message.</b> It is persistent and mandatory. It goes to the exchange that has the
 * aggregate type's name, with the event type as the routing key; {@link Builder} can change both.
 * The body is the payload. Headers are the message's own, and {@code outbox-key} (the message's
 * key) and {@linkplain dev.outbox.publisher.core.Attributes#forEach the library's} (P4). The
 * properties message-id, type, content-type and correlation-id say the same where the values have
 * at most 255 bytes, AMQP's limit; timestamp is the time of append in seconds.
 *
 * <p>AMQP's table of headers has no order, and each name once, with its last value. So {@code
 * outbox-headers} has all of the message's own headers, in their order, as JSON: {@code
 * [["name","value"],…]}. It is there when the message has more than one, or one that the table
 * cannot hold. The name of such a header has more than 255 bytes, is one of those above, or is
 * {@code CC} or {@code BCC}, which the broker would act on.
 *
 * <p><b>Results (P3).</b>
 *
 * <ul>
 *   <li>delivered: the broker confirmed it, and a queue has it;
 *   <li>rejected: the broker, or its client, will not take it: too large, a routing key of more
 *       than 255 bytes;
 *   <li>unavailable, with the exchange: it does not exist, or we may not publish to it;
 *   <li>unavailable, with {@code exchange/routing key} (with the default exchange, the queue): no
 *       queue is bound for it, a queue is full and refuses more, or it confirms nothing while the
 *       broker answers;
 *   <li>unavailable, as a whole: there is no connection, the broker does not answer or does not let
 *       us in, or it takes no messages now, because it is short of memory for example;
 *   <li>failed: anything else.
 * </ul>
 *
 * <p>A destination that confirms nothing is waited for a quarter of the timeout, later a twentieth,
 * and not at all while messages given up on are still on their way. What is confirmed then is
 * delivered when it is handed over again, and not sent twice.
 */
public final class RabbitPublisher implements MessagePublisher {

  /** The default of {@link Builder#timeout}. */
  public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(20);

  /** The pattern of routing keys, unless another is given. */
  static final String ROUTING_KEY = "{eventType}";

  private final Call.Setup setup;
  private final Reconnecting<Link> links;
  private final SilentPlaces<Place> places;
  private final ScheduledThreadPoolExecutor watchdog;

  private RabbitPublisher(Call.Setup setup, Reconnecting<Link> links) {
    this.setup = setup;
    this.links = links;
    this.places = setup.timing().places();
    watchdog =
        new ScheduledThreadPoolExecutor(
            1, task -> BackgroundTasks.daemon("outbox-rabbitmq-watchdog", task));
    watchdog.setRemoveOnCancelPolicy(true);
    // After close there is no connection to end.
    watchdog.setRejectedExecutionHandler(new ScheduledThreadPoolExecutor.DiscardPolicy());
  }

  /** Starts with the defaults that each setter names. */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns within the timeout (P5); see {@link RabbitPublisher} for the results. */
  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    Call call = new Call(setup, places, messages);
    Future<?> end = watchdog.schedule(call::kill, setup.timing().kill(), TimeUnit.NANOSECONDS);
    try {
      return call.run(links);
    } finally {
      boolean unused = end.cancel(false);
    }
  }

  /** Closes the connection; waits at most a quarter of the timeout for the broker. */
  @Override
  public void close() {
    links.close(Timing.millis(setup.timing().patience()));
    watchdog.shutdown();
  }

  /** Scheme, hosts, ports, and the virtual host unless it is {@code /}. */
  @Override
  public String address() {
    return setup.address();
  }

  /** Asks over the connection that messages take. */
  @Override
  public Optional<String> unreachable(Duration patience) throws InterruptedException {
    long end = System.nanoTime() + patience.toNanos();
    try {
      Link link = links.get(patience.toNanos());
      Link.Block block = link.block();
      if (block != null) {
        return Optional.of(
            "RabbitMQ at %s takes no messages now: %s".formatted(address(), block.why()));
      }
      return BackgroundTasks.call("outbox-rabbitmq-ask", () -> ask(link))
          .get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (NoConnectionException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    } catch (TimeoutException e) {
      return Optional.of(noAnswer());
    } catch (ExecutionException e) {
      return Optional.of("asking RabbitMQ at %s threw %s".formatted(address(), e.getCause()));
    }
  }

  private Optional<String> ask(Link link) {
    try {
      link.ask();
      return Optional.empty();
    } catch (IOException | RuntimeException e) {
      return Optional.of(noAnswer() + ": " + Link.text(e));
    }
  }

  private String noAnswer() {
    return "RabbitMQ at %s does not answer".formatted(address());
  }

  /** Collects the settings; {@link #build()} checks them. Not safe for use by many threads. */
  public static final class Builder {
    private @Nullable Supplier<ConnectionFactory> factories;
    private List<Address> addresses = List.of();
    private Destination exchange = Destination.aggregateType();
    private Destination routingKey = Destination.pattern(ROUTING_KEY);
    private Function<StoredMessage, byte[]> body = m -> m.message().payload();
    private BiConsumer<StoredMessage, Runnable> aroundSend = (message, send) -> send.run();
    private Duration timeout = DEFAULT_TIMEOUT;

    private Builder() {}

    /**
     * Where RabbitMQ is, and as whom to log in: {@code amqp://user:password@host:5672/vhost}, or
     * {@code amqps:} for TLS. With TLS the broker's certificate has to be trusted by the JVM, and
     * has to be the host's. This or {@link #connectionFactory} is required.
     *
     * @throws IllegalArgumentException when it is no such URI; the text does not show it
     */
    public Builder uri(String uri) {
      return connectionFactory(Uris.factory(uri));
    }

    /**
     * A factory of your own, for whatever the URI has no word for; it is copied. The publisher
     * switches recovery off, uses blocking sockets, and shortens timeouts that are longer than its
     * own. TLS is as you have set it up: by itself, RabbitMQ's client checks no certificate.
     */
    public Builder connectionFactory(ConnectionFactory factory) {
      ConnectionFactory copy = requireNonNull(factory, "factory").clone();
      return connectionFactories(() -> copy);
    }

    /** One for each connection. */
    Builder connectionFactories(Supplier<ConnectionFactory> factories) {
      this.factories = factories;
      return this;
    }

    /**
     * The nodes of a cluster, in place of the host of the URI or the factory: the first that
     * answers is taken.
     *
     * @param addresses as {@code rabbit-1:5672,rabbit-2:5672}; without a port, the usual one
     */
    public Builder addresses(String addresses) {
      this.addresses = Uris.addresses(addresses);
      return this;
    }

    /**
     * The exchange of a message; default: {@link Destination#aggregateType()}. {@code amq.default}
     * is the default exchange, where the routing key is a queue's name.
     */
    public Builder destination(Destination exchange) {
      this.exchange = requireNonNull(exchange, "destination");
      return this;
    }

    /** The routing key of a message; default: its event type. */
    public Builder routingKey(Destination routingKey) {
      this.routingKey = requireNonNull(routingKey, "routingKey");
      return this;
    }

    /** For tests: the body of a message. */
    Builder body(Function<StoredMessage, byte[]> body) {
      this.body = body;
      return this;
    }

    /**
     * How long {@link RabbitPublisher#publish} takes at most; default {@link #DEFAULT_TIMEOUT}, at
     * least one second. It must be below the relay's publish timeout.
     */
    public Builder timeout(Duration timeout) {
      this.timeout = requireNonNull(timeout, "timeout");
      return this;
    }

    /**
     * Runs what gives a message to RabbitMQ's client, in the thread that calls publish: for what
     * looks at the current thread there, as instrumentation that writes trace headers does. The
     * function calls the {@code Runnable} exactly once and lets its exceptions through. Default: it
     * just calls it.
     */
    public Builder aroundSend(BiConsumer<StoredMessage, Runnable> aroundSend) {
      this.aroundSend = requireNonNull(aroundSend, "aroundSend");
      return this;
    }

    /**
     * Checks and builds; connects with the first message, so the broker need not be there yet.
     *
     * @throws IllegalArgumentException naming the setting, its value and what to do
     */
    public RabbitPublisher build() {
      if (factories == null) {
        throw new IllegalArgumentException(
            "the URI is missing: say where RabbitMQ is, as in amqp://user:password@localhost:5672");
      }
      Timing timing = Timing.of(timeout);
      Broker broker = new Broker(factories, addresses, timing);
      return new RabbitPublisher(
          new Call.Setup(
              new Mapping(exchange, routingKey, body), aroundSend, timing, broker.address()),
          new Reconnecting<>("outbox-rabbitmq", broker::connect, broker::problem));
    }
  }
}
