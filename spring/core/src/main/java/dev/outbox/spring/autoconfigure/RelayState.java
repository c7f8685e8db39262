package dev.outbox.spring.autoconfigure;

import dev.outbox.relay.RelayEvent;
import dev.outbox.relay.RelayListener;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** What the relay has told of itself last; for health and the endpoint. */
final class RelayState implements RelayListener {
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
  record Unavailable(String destination, String error, Instant at) {}

  /** With the sequence of the message that found it out. */
  private record Found(Unavailable unavailable, long sequence) {}

  /** That a worker gets nothing done, from the first failure to the last. */
  private record Failing(Instant since, Instant until, RelayEvent.StoreFailed last) {}

  private final Clock clock;
  private final Map<String, Found> unavailable = new ConcurrentHashMap<>();

  /** By worker. */
  private final Map<String, Failing> failing = new ConcurrentHashMap<>();

  private volatile String broker = "not known yet";
  private volatile RelayEvent.@Nullable Started started;

  RelayState(Clock clock) {
    this.clock = clock;
  }

  @Override
  public void on(RelayEvent event) {
    if (event instanceof RelayEvent.Started now) {
      started = now;
      failing.clear();
    } else if (event instanceof RelayEvent.StoreFailed failed) {
      failed(failed);
    } else if (event instanceof RelayEvent.StoreRecovered recovered) {
      failing.remove(recovered.who());
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
      Instant now = clock.instant();
      failing.merge(
          event.who(),
          new Failing(now, now, event),
          (before, first) -> new Failing(before.since(), now, event));
    }
  }

  private void found(RelayEvent.Unavailable event) {
    String destination = event.result().destination();
    if (destination != null
        && (unavailable.size() < MOST_DESTINATIONS || unavailable.containsKey(destination))) {
      Unavailable now = new Unavailable(destination, event.result().error(), clock.instant());
      unavailable.put(destination, new Found(now, event.message().sequence()));
    }
  }

  /**
   * Why nothing is published although the store answers; null when all is well. Errors that may
   * pass, such as deadlocks, count only when they have lasted.
   */
  @Nullable String failing() {
    Instant lately = clock.instant().minus(PATIENCE);
    return failing.values().stream()
        .filter(
            one ->
                one.last().isPermanent()
                    || (one.since().isBefore(lately) && one.until().isAfter(lately)))
        .min(Comparator.comparing(Failing::since))
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
  String broker() {
    return broker;
  }

  /** The event of the relay's last start; null before the first. */
  RelayEvent.@Nullable Started started() {
    return started;
  }

  /** What was found to be unavailable lately, by name; of very many, only some. */
  List<Unavailable> unavailable() {
    Instant since = clock.instant().minus(LASTS);
    unavailable.values().removeIf(one -> one.unavailable().at().isBefore(since));
    return unavailable.values().stream()
        .map(Found::unavailable)
        .sorted(Comparator.comparing(Unavailable::destination))
        .toList();
  }
}
