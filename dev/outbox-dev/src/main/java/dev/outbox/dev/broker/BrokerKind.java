package dev.outbox.dev.broker;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The brokers of a demo and a torture: what was published there can be read. */
public enum BrokerKind {
  KAFKA,
  RABBITMQ;

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

  /** As in options: kafka. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
