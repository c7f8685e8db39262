package dev.outbox.dev.broker;

import dev.outbox.cli.Failure;
import dev.outbox.dev.broker.Source.Reading;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A broker with a place, here a topic, for each type of aggregate: how to start, reach, break and
 * mend it. What goes wrong is a {@link Failure} that says it in a sentence.
 */
public abstract class Broker implements AutoCloseable {
  /** The largest message that its topics take, where they have a limit, in bytes. */
  public static final int MOST_BYTES = 20_000;

  private final String label;
  private final String name;
  private final String prefix;
  private final List<String> types;
  private volatile @Nullable String address;
  private volatile Optional<EmbeddedServer> server = Optional.empty();

  /**
   * A server that was started.
   *
   * @param address ends with its port
   */
  record Started(EmbeddedServer server, String address) {}

  /**
   * A broker's own client, which sends what our publisher sends: the limit of benchmarks. Used by
   * one thread.
   */
  public interface Client extends AutoCloseable {
    /** So many messages may be without their acknowledgement. */
    int mostAtOnce();

    /**
     * Sends what our publisher sends of a message.
     *
     * @param answered called by any thread: with whether the broker has it
     */
    void send(StoredMessage message, Consumer<Boolean> answered) throws Exception;

    /** Returns when all is answered that was sent, where the client knows. */
    @Override
    default void close() {}
  }

  /** See {@link BrokerKind#open}. */
  Broker(String label, @Nullable String address, String name, List<String> types) {
    this.label = label;
    this.address = address;
    this.name = name;
    this.prefix = name.isEmpty() ? "" : name + "-";
    this.types = types;
  }

  /** Those whose publishers are measured without a database, not started yet. */
  public static List<Broker> allMeasured() {
    return List.of(new RabbitBroker(null, "", List.of()), new NatsBroker(), new HttpBroker());
  }

  /** For people, as {@code Kafka}. */
  public final String label() {
    return label;
  }

  /** With its version where we know it. */
  @Override
  public String toString() {
    return server.map(ours -> ours.toString().replace("embedded ", "")).orElse(label);
  }

  /** Where it is, with its user. */
  public final String address() {
    String known = address;
    if (known == null) {
      throw new IllegalStateException(label + " is not there yet");
    }
    return known;
  }

  final void address(String known) {
    address = known;
  }

  /** Of what is made there. */
  public final String name() {
    return name;
  }

  /** Where it is, for people: without secrets. */
  public String place() {
    return address();
  }

  final String prefix() {
    return prefix;
  }

  final List<String> types() {
    return types;
  }

  final List<String> topics() {
    return types.stream().map(type -> prefix + type).toList();
  }

  /** Starts a server of its own, unless it is reached where it is. */
  public final void start() {
    start(0);
  }

  /**
   * The same, for clients that come by way of a proxy.
   *
   * @param proxyPort the proxy's; 0: there is none
   * @throws UnsupportedOperationException when it cannot be started here
   */
  public void start(int proxyPort) {
    if (address == null) {
      Started started = launch(proxyPort);
      server = Optional.of(started.server());
      address =
          proxyPort == 0
              ? started.address()
              : started.address().replaceFirst(":\\d+$", ":" + proxyPort);
    }
  }

  abstract Started launch(int proxyPort);

  /** What to install where it cannot be started. */
  public String needs() {
    throw onlyMeasured();
  }

  /** Makes the topics. */
  public void createTopics() {
    throw onlyMeasured();
  }

  /** What relays' properties say of it. */
  public Map<String, String> relayProperties() {
    throw onlyMeasured();
  }

  private UnsupportedOperationException onlyMeasured() {
    return new UnsupportedOperationException(label + " is only measured");
  }

  /**
   * Publishes to the topics.
   *
   * @param timeout null: the publisher's default
   * @throws UnsupportedOperationException when only a relay's properties say how
   */
  public MessagePublisher publisher(@Nullable Duration timeout) {
    throw onlyMeasured();
  }

  /** Begins to read what was published. */
  public Source source(Reading reading) {
    throw onlyMeasured();
  }

  /** The publisher that is measured, with its defaults, beside {@link #client}. */
  public abstract MessagePublisher measured() throws Exception;

  /** The broker's own; those of several threads share a connection, as our publisher has one. */
  public abstract Client client() throws Exception;

  /** How many messages of those that are measured have arrived since it was started. */
  public abstract long arrived() throws Exception;

  /** The one that was started here. */
  public final EmbeddedServer server() {
    return server.orElseThrow(() -> new IllegalStateException(label + " was not started here"));
  }

  /** Its first process, where it is one of ours. */
  public OptionalLong pid() {
    return server.stream().mapToLong(EmbeddedServer::pid).findFirst();
  }

  /** Whether it is ours to stop. */
  public final boolean canStop() {
    return server.isPresent();
  }

  public final void stop() {
    server().stop();
  }

  /** Starts it again, with all that it has acknowledged. */
  public final void restart() {
    server().restart();
  }

  /** Ends it; removes what was made where it is the user's. */
  @Override
  public void close() {
    server.ifPresent(EmbeddedServer::close);
  }

  /** Does it, and says what has failed where it fails; what the broker said is the cause's. */
  static <R> R tried(String problem, Callable<R> work) {
    try {
      return work.call();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Failure(problem + ": interrupted", e);
    } catch (Exception e) {
      Throwable cause = e.getCause() != null ? e.getCause() : e;
      throw new Failure(problem + ": " + cause.getMessage(), e);
    }
  }
}
