package dev.outbox.micrometer;

import static java.util.Objects.requireNonNull;

import dev.outbox.Texts;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RelayEvent;
import dev.outbox.relay.RelayListener;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;

/**
 * The meters of an outbox: what relays do, told by them, and what waits, read from the store.
 *
 * <pre>{@code
 * OutboxMetrics metrics = OutboxMetrics.of(store);
 * metrics.bindTo(registry);
 * Relay relay = Relay.builder(store, publisher).listener(metrics).build();
 * }</pre>
 *
 * <p>One object may listen to several relays of one store, and be bound to several registries. What
 * waits is read by a thread of its own each {@link Builder#interval}, at a cost that does not grow
 * with what waits ({@link StatisticsStore}), and never by the one that scrapes. While the store
 * cannot be read, these gauges are NaN and not 0, and {@code outbox.reading.age} grows. The table
 * of the meters is in {@code docs/metrics.md}.
 *
 * <p>{@link #close} it after the relays. Safe for use by many threads.
 */
public final class OutboxMetrics implements MeterBinder, RelayListener, AutoCloseable {
  private final Builder settings;
  private final Readings readings;
  private final Breakers breakers = new Breakers();
  private final List<RelayMeters> counting = new CopyOnWriteArrayList<>();
  private final List<Gauges> gauges = new CopyOnWriteArrayList<>();

  private OutboxMetrics(Builder settings, LongSupplier clock) {
    this.settings = settings;
    readings = new Readings(settings.store, settings.cap, settings.interval, clock);
  }

  /**
   * Meters with the defaults of {@link Builder}.
   *
   * @param store the relays', or another on the same tables
   */
  public static OutboxMetrics of(StatisticsStore store) {
    return builder(store).build();
  }

  /** As {@link #of}, with settings. */
  public static Builder builder(StatisticsStore store) {
    return new Builder(store);
  }

  /**
   * Makes the meters in a registry, and begins to read the store. Events from before are in no
   * registry's counters.
   *
   * @throws IllegalStateException when it is closed
   */
  @Override
  public void bindTo(MeterRegistry registry) {
    readings.start();
    gauges.add(new Gauges(registry, settings.tags, readings, breakers));
    counting.add(new RelayMeters(registry, settings.tags));
  }

  /** For {@link Relay.Builder#listener}. */
  @Override
  public void on(RelayEvent event) {
    if (event instanceof RelayEvent.Started) {
      readings.readSoon();
    }
    breakers.on(event);
    counting.forEach(meters -> meters.on(event));
  }

  /**
   * What waits, as the gauges show it: reads nothing. Empty before the first reading, and when the
   * last one failed or is older than four intervals.
   */
  public Optional<Statistics> lastReading() {
    return Optional.ofNullable(readings.last());
  }

  /** How long ago the last good reading was; before the first, how long ago this was made. */
  public Duration readingAge() {
    return Duration.ofMillis((long) (readings.age() * 1000));
  }

  /**
   * Ends the thread and removes the gauges, so that another object may bind its own; counters and
   * timers stay and may be gone on with. Waits for at most a second; a store that does not answer
   * then keeps a daemon thread until it does. Closing twice does nothing.
   */
  @Override
  public void close() {
    gauges.forEach(Gauges::remove);
    readings.close();
  }

  /** Collects the settings. Not safe for use by many threads. */
  public static final class Builder {
    /** Default of {@link #interval}: 15 s. */
    public static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(15);

    private static final Duration LEAST_INTERVAL = Duration.ofMillis(100);

    private final StatisticsStore store;
    private Duration interval = DEFAULT_INTERVAL;
    private int cap = StatisticsStore.DEFAULT_CAP;
    private Tags tags = Tags.empty();

    private Builder(StatisticsStore store) {
      this.store = requireNonNull(store, "store");
    }

    /** How long to wait after a reading of the store before the next; at least 100 ms. */
    public Builder interval(Duration interval) {
      if (interval.compareTo(LEAST_INTERVAL) < 0) {
        throw new IllegalArgumentException(
            "interval is %s, at least %s is needed"
                .formatted(Texts.time(interval), Texts.time(LEAST_INTERVAL)));
      }
      this.interval = interval;
      return this;
    }

    /**
     * How far to count what waits, as {@link StatisticsStore#statistics} takes it: a gauge that
     * shows the cap says "so many or more".
     */
    public Builder cap(int cap) {
      this.cap = StatisticsStore.checked(cap);
      return this;
    }

    /** Tags for all meters, as to tell two outboxes of one process apart; none unless given. */
    public Builder tags(Iterable<Tag> tags) {
      this.tags = Tags.of(tags);
      return this;
    }

    /** What was collected so far; later changes of this builder do not reach it. */
    public OutboxMetrics build() {
      return build(System::nanoTime);
    }

    OutboxMetrics build(LongSupplier clock) {
      return new OutboxMetrics(copy(), clock);
    }

    private Builder copy() {
      return new Builder(store).interval(interval).cap(cap).tags(tags);
    }
  }
}
