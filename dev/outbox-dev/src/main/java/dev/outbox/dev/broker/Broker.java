package dev.outbox.dev.broker;

import static java.util.Objects.requireNonNull;

import dev.outbox.cli.Failure;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.embedded.ParentJvm;
import dev.outbox.spi.publisher.MessagePublisher;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A broker with a place, here a topic, for each type of aggregate: how to start, reach, break and
 * mend it. What goes wrong is a {@link Failure} that says it in a sentence.
 */
public abstract class Broker implements AutoCloseable {
  /** The largest message that its topics take, where they have a limit, in bytes. */
  public static final int MOST_BYTES = 20_000;

  /** Of a demo and a torture. What was published there can be read. */
  public enum Kind {
    KAFKA("Kafka"),
    RABBITMQ("RabbitMQ");

    private final String label;

    Kind(String label) {
      this.label = label;
    }

    /**
     * One of this kind, to be started, or to be reached where it is.
     *
     * @param address null: a server of its own is started
     * @param name of what is made there; no other program uses it. Empty: the server is nobody
     *     else's
     * @param types of the aggregates whose messages it is for, each with a place of its own
     */
    public Broker open(@Nullable String address, String name, List<String> types) {
      return switch (this) {
        case KAFKA -> new KafkaBroker(address, name, types);
        case RABBITMQ -> new RabbitBroker(address, name, types);
      };
    }

    /** As in options: kafka. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final Kind kind;
  private final String name;
  final String prefix;
  private final List<String> types;
  private volatile @Nullable String address;
  private volatile Optional<EmbeddedServer> server = Optional.empty();

  /**
   * A server that was started.
   *
   * @param address ends with its port
   */
  record Started(EmbeddedServer server, String address) {}

  /** See {@link Kind#open}. */
  Broker(Kind kind, @Nullable String address, String name, List<String> types) {
    this.kind = kind;
    this.address = address;
    this.name = name;
    this.prefix = name.isEmpty() ? "" : name + "-";
    this.types = types;
  }

  /** For people, as {@code Kafka}. */
  public final String label() {
    return kind.label;
  }

  /** Where it is, with its user. */
  public final String address() {
    return requireNonNull(address, "it is not there yet");
  }

  /** What a process of its own needs to {@link #open} it. */
  public final Map<String, String> settings() {
    return Map.of("broker", kind.name(), "broker-address", address(), "broker-name", name);
  }

  /** One that another process has started, by its {@link #settings}. */
  public static Broker open(ParentJvm parent, List<String> types) {
    return Kind.valueOf(parent.get("broker"))
        .open(parent.get("broker-address"), parent.get("broker-name"), types);
  }

  /** Where it is, for people: without who may go there. */
  public final String place() {
    return address().replaceFirst(".*@", "");
  }

  /** Where a message goes, as our publishers and relays read it. */
  public final String destination() {
    return prefix + "{aggregateType}";
  }

  final List<String> topics() {
    return types.stream().map(type -> prefix + type).toList();
  }

  /**
   * Starts a server of its own, unless it is reached where it is.
   *
   * @param proxyPort of a proxy by way of which clients come; 0: there is none
   * @throws UnsupportedOperationException when it cannot be started here
   */
  public final void start(int proxyPort) {
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
  public abstract String needs();

  /** Makes the topics. */
  public abstract void createTopics();

  /** What relays' properties say of it, beside the {@link #destination}. */
  public abstract Map<String, String> relayProperties();

  /**
   * Publishes to the topics.
   *
   * @param timeout null: the publisher's default
   */
  public abstract MessagePublisher publisher(@Nullable Duration timeout);

  /** Begins to read what was published. */
  public abstract Source source(Source.Reading reading);

  /** The one that was started here. */
  public final EmbeddedServer server() {
    return server.orElseThrow();
  }

  /** Whether it is ours to stop. */
  public final boolean canStop() {
    return server.isPresent();
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
