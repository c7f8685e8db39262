package dev.outbox.micrometer;

import dev.outbox.spi.store.StatisticsStore.Statistics;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** The gauges of one registry: what waits, how old that reading is, and the breakers. */
final class Gauges {
  private final MeterRegistry registry;
  private final Tags tags;
  private final Readings readings;
  private final List<Meter> meters = new ArrayList<>();

  Gauges(MeterRegistry registry, Tags tags, Readings readings, Breakers breakers) {
    this.registry = registry;
    this.tags = tags;
    this.readings = readings;
    messages("pending", Statistics::pending);
    messages("scheduled", Statistics::scheduled);
    messages("blocked", Statistics::blocked);
    messages("dead", Statistics::dead);
    keys("retrying", Statistics::blockedKeys);
    keys("halted", Statistics::haltedKeys);
    age("free", statistics -> seconds(statistics.oldestFree()));
    age("blocked", statistics -> seconds(statistics.oldestBlocked()));
    add(
        gauge("relays", () -> readings.value(Gauges::relays))
            .description("Relays that live, also those that stand by; NaN where none can be seen"));
    add(
        gauge("reading.age", readings::age)
            .baseUnit("seconds")
            .description("Since the outbox was last read for these gauges"));
    add(
        gauge("breaker.open", () -> breakers.anyOpen() ? 1 : 0)
            .description("1 while a relay of this process cannot reach the broker"));
  }

  private void messages(String status, ToDoubleFunction<Statistics> number) {
    add(
        gauge("messages", () -> readings.value(number))
            .tag("status", status)
            .description("Messages in the outbox, up to the cap"));
  }

  private void keys(String state, ToDoubleFunction<Statistics> number) {
    add(
        gauge("keys", () -> readings.value(number))
            .tag("state", state)
            .description("Keys that wait for a retry, or for a person, up to the cap"));
  }

  private void age(String state, ToDoubleFunction<Statistics> number) {
    add(
        gauge("oldest.age", () -> readings.value(number))
            .tag("state", state)
            .baseUnit("seconds")
            .description("How long the oldest message has been due; 0 when there is none"));
  }

  private Gauge.Builder<Supplier<Number>> gauge(String name, Supplier<Number> value) {
    return Gauge.builder("outbox." + name, value).tags(tags);
  }

  private void add(Gauge.Builder<Supplier<Number>> gauge) {
    meters.add(gauge.register(registry));
  }

  private static double relays(Statistics statistics) {
    Integer live = statistics.relays();
    return live == null ? Double.NaN : live;
  }

  private static double seconds(@Nullable Duration time) {
    return time == null ? 0 : time.toMillis() / 1000.0;
  }

  void remove() {
    meters.forEach(registry::remove);
  }
}
