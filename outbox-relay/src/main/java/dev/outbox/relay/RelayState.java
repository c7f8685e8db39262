package dev.outbox.relay;

import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.PauseStore.Pause;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What one relay has told of itself last: for health checks, which then cost nothing. Give it to
 * the relay as its listener ({@link Relay.Builder#listener}). Safe for use by many threads.
 */
public final class RelayState implements RelayListener {
  private static final String RELAY = "relay";
  private static final String NOT_KNOWN = "not known yet";

  static final String REACHABLE = "reachable";

  /** How long a report counts: the relay tries each destination at least twice a minute. */
  static final Duration LASTS = Duration.ofMinutes(2);

  /** How long the store may take to recover from an outage. */
  static final Duration PATIENCE = Duration.ofMinutes(1);

  private static final int MOST_DESTINATIONS = 20;

  /**
   * A topic, queue or partition that cannot be reached.
   *
   * @param at when it was found out last
   */
  public record Unavailable(String destination, String error, Instant at) {}

  /**
   * With the sequence of the message that found it out.
   *
   * @param at by {@link System#nanoTime}, as all that is counted: the other clock may be set
   */
  private record Found(Unavailable unavailable, long sequence, long at) {}

  /** That a worker gets nothing done, from the first failure to the last. */
  private record Failing(Instant since, long first, long until, RelayEvent.StoreFailed last) {}

  private final InstantSource clock;
  private final LongSupplier nanos;
  private final Map<String, Found> unavailable = new ConcurrentHashMap<>();

  /** By worker. */
  private final Map<String, Failing> failing = new ConcurrentHashMap<>();

  /** By {@link PauseStore#name}. */
  private final Map<String, Pause> paused = new ConcurrentHashMap<>();

  private volatile String broker = NOT_KNOWN;
  private volatile RelayEvent.@Nullable Started started;

  /** The state of a relay that has not told anything yet. */
  public RelayState() {
    this(InstantSource.system(), System::nanoTime);
  }

  /** For tests. */
  RelayState(InstantSource clock, LongSupplier nanos) {
    this.clock = clock;
    this.nanos = nanos;
  }

  @Override
  public void on(RelayEvent event) {
    if (event instanceof RelayEvent.Started now) {
      started = now;
      failing.clear();
      paused.clear();
    } else if (event instanceof RelayEvent.StoreFailed failed) {
      failed(failed);
    } else if (event instanceof RelayEvent.StoreRecovered recovered) {
      failing.remove(recovered.who());
    } else if (event instanceof RelayEvent.Paused now) {
      paused.put(PauseStore.name(now.pause().aggregateType()), now.pause());
    } else if (event instanceof RelayEvent.Resumed over) {
      paused.remove(PauseStore.name(over.pause().aggregateType()));
    } else if (event instanceof RelayEvent.Unavailable one) {
      found(one);
    } else if (event instanceof RelayEvent.BreakerOpened opened) {
      broker = opened.error();
    } else if (event instanceof RelayEvent.BrokerUnreachable unreachable) {
      broker = unreachable.error();
    } else if (event instanceof RelayEvent.BreakerClosed
        || event instanceof RelayEvent.BrokerReachable) {
      broker = REACHABLE;
    } else if (event instanceof RelayEvent.Delivered delivered) {
      broker = REACHABLE;
      unavailable.values().removeIf(one -> one.sequence() == delivered.message().sequence());
    }
  }

  private void failed(RelayEvent.StoreFailed event) {
    if (event.stopsWork()) {
      long now = nanos.getAsLong();
      failing.merge(
          event.who(),
          new Failing(clock.instant(), now, now, event),
          (before, first) -> new Failing(before.since, before.first, now, event));
    }
  }

  private void found(RelayEvent.Unavailable event) {
    String destination = event.result().destination();
    forgetOld();
    if (destination != null
        && (unavailable.size() < MOST_DESTINATIONS || unavailable.containsKey(destination))) {
      Unavailable now = new Unavailable(destination, event.result().error(), clock.instant());
      unavailable.put(destination, new Found(now, event.message().sequence(), nanos.getAsLong()));
    }
  }

  /** Another relay may have delivered the message that found it out. */
  private void forgetOld() {
    long now = nanos.getAsLong();
    unavailable.values().removeIf(one -> now - one.at > LASTS.toNanos());
  }

  /**
   * Why nothing is published although the store answers; null when all is well. Errors that may
   * pass, such as deadlocks, count only when they have lasted.
   */
  public @Nullable String failing() {
    long now = nanos.getAsLong();
    long patience = PATIENCE.toNanos();
    return failing.values().stream()
        .filter(
            one ->
                one.last().isPermanent()
                    || (now - one.first > patience && now - one.until < patience))
        .max(Comparator.comparingLong(one -> now - one.first))
        .map(
            one ->
                "nothing is published: %s fails since %s: %s"
                    .formatted(
                        one.last().operation(),
                        one.since().truncatedTo(ChronoUnit.SECONDS),
                        one.last().error().getMessage()))
        .orElse(null);
  }

  /** Whether the broker as a whole can be reached, or why not. */
  public String broker() {
    return broker;
  }

  /** The event of the relay's last start; null before the first. */
  public RelayEvent.@Nullable Started started() {
    return started;
  }

  /** What was found to be unavailable lately, by name; of very many, only some. */
  public List<Unavailable> unavailable() {
    forgetOld();
    return unavailable.values().stream()
        .map(Found::unavailable)
        .sorted(Comparator.comparing(Unavailable::destination))
        .toList();
  }

  /**
   * Whether the relay's threads run.
   *
   * @param alive what {@link Relay#isAlive} says
   */
  public static Finding threads(boolean alive) {
    return alive
        ? Finding.fine(RELAY, "running")
        : Finding.problem(
            RELAY, "threads of the relay have ended, see the log", "restart the process");
  }

  /**
   * How the relay is. A broker or a destination that is away is a warning: messages wait, and to
   * start the process anew would not help.
   *
   * @param alive what {@link Relay#isAlive} says
   */
  public List<Finding> findings(boolean alive) {
    String failing = failing();
    List<Finding> findings = new ArrayList<>();
    findings.add(alive && failing != null ? Finding.problem(RELAY, failing, null) : threads(alive));
    paused.values().forEach(pause -> findings.add(Diagnosis.paused(Diagnosis.PAUSED, pause)));
    String reached = broker;
    findings.add(
        reached.equals(REACHABLE) || reached.equals(NOT_KNOWN)
            ? Finding.fine("broker", reached)
            : Finding.warning("broker", reached, null));
    unavailable()
        .forEach(
            one ->
                findings.add(
                    Finding.warning(
                        "destination",
                        one.destination() + " cannot be reached: " + one.error(),
                        null)));
    return findings;
  }
}
