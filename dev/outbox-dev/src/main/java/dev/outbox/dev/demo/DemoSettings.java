package dev.outbox.dev.demo;

import dev.outbox.cli.Address;
import dev.outbox.dev.StoreKind;
import dev.outbox.dev.broker.BrokerKind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What to do.
 *
 * @param transactions to be committed
 * @param rate transactions a second
 * @param seed of everything random
 * @param store the kind of database
 * @param database the user's own, or null
 * @param broker the kind of broker
 * @param bootstrapServers of the user's own Kafka, or null
 */
record DemoSettings(
    int transactions,
    int orders,
    int threads,
    int rate,
    long seed,
    StoreKind store,
    @Nullable Address database,
    BrokerKind broker,
    @Nullable String bootstrapServers) {
  static final String ORDER = "order";
  static final String SHIPMENT = "shipment";

  /** Of the aggregates that the customers' messages are about. */
  static final List<String> TYPES = List.of(ORDER, SHIPMENT);

  private static final int QUIET_RATE = 200;

  /** Transactions a second in quiet times: so few that a machine with two cores can idle. */
  int quietRate() {
    return Math.min(rate, QUIET_RATE);
  }
}
