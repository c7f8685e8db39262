package dev.outbox.dev.broker;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** The brokers that are started for commands. */
public enum BrokerKind {
  KAFKA,
  RABBITMQ,
  NATS,
  HTTP;

  /** What was published there can be read. */
  private static final List<BrokerKind> READABLE = List.of(KAFKA, RABBITMQ);

  /**
   * One of this kind, to be started, or to be reached where it is.
   *
   * @param address null: a server of its own is started
   * @param name of what is made there; no other program uses it. Empty: the server is nobody else's
   * @param types of the aggregates whose messages it is for, each with a place of its own
   */
  public Broker open(@Nullable String address, String name, List<String> types) {
    return switch (this) {
      case KAFKA -> new KafkaBroker(address, name, types);
      case RABBITMQ -> new RabbitBroker(address, name, types);
      case NATS -> new NatsBroker(address, name, types);
      case HTTP -> new HttpBroker(address, name, types);
    };
  }

  /** What a process of its own needs to {@link #open(Map, List)} it. */
  public Map<String, String> settings(Broker broker) {
    return Map.of(
        "broker", name(), "broker-address", broker.address(), "broker-name", broker.name());
  }

  /** One that another process has started, by its {@link #settings}. */
  public static Broker open(Map<String, String> settings, List<String> types) {
    return valueOf(requireNonNull(settings.get("broker")))
        .open(settings.get("broker-address"), requireNonNull(settings.get("broker-name")), types);
  }

  /**
   * Refuses one that is only measured.
   *
   * @throws ParameterException when it is one
   */
  public void checkReadable(CommandLine command) {
    if (!READABLE.contains(this)) {
      throw new ParameterException(
          command,
          "--broker is %s, but it takes one of %s"
              .formatted(
                  this, READABLE.stream().map(Object::toString).collect(Collectors.joining(", "))));
    }
  }

  /** As in options: kafka. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
