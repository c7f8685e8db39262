package dev.outbox.dev;

import java.util.Locale;

/** The brokers that are started for commands. */
public enum BrokerKind {
  KAFKA,
  RABBITMQ,
  NATS,
  HTTP;

  /** As in options: kafka. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
