package dev.outbox.dev.broker;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The brokers that are started for commands. */
public enum BrokerKind {
  KAFKA,
  RABBITMQ,
  NATS,
  HTTP;

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
      case HTTP -> new HttpBroker(address, types);
    };
  }

  /** As in options: kafka. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
