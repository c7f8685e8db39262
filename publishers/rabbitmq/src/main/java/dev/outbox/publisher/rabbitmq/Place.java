package dev.outbox.publisher.rabbitmq;

import org.jspecify.annotations.Nullable;

/**
 * Where a message goes.
 *
 * @param routingKey null when it is the exchange as a whole
 */
record Place(String exchange, @Nullable String routingKey) {

  Place wholeExchange() {
    return new Place(exchange, null);
  }

  /** For the relay: {@code exchange/key}; for the default exchange, the queue. */
  String name() {
    if (routingKey == null) {
      return exchange.isEmpty() ? "the default exchange" : exchange;
    }
    return exchange.isEmpty() ? routingKey : exchange + "/" + routingKey;
  }

  /** For people. */
  @Override
  public String toString() {
    String which = exchange.isEmpty() ? "the default exchange" : "exchange " + exchange;
    return routingKey == null ? which : "%s, routing key %s".formatted(which, routingKey);
  }
}
