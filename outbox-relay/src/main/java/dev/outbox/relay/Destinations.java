package dev.outbox.relay;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Destinations that cannot be reached while others can, and how long their messages wait. Kept in
 * memory only: after a restart a destination begins with the first delay again.
 *
 * <p>A destination is forgotten when the message that reported it last is delivered. Another relay
 * may deliver that one. So a destination is also forgotten when it was due again without a new
 * report, and messages of the aggregate type that it held up are delivered. (A single delivery
 * proves less: it may have gone elsewhere, to another partition of the topic for example.) And it
 * is forgotten when it has not been reported for a while.
 */
final class Destinations {
  static final Duration FIRST_DELAY = Duration.ofMillis(500);
  static final Duration LONGEST_DELAY = Duration.ofSeconds(30);

  /** All are looked at with each report and each delivery, so what is more shares one delay. */
  static final int MOST = 1_000;

  /** No destination has this name. */
  private static final String OTHERS = "\0others";

  private static final long FORGET_AFTER = LONGEST_DELAY.multipliedBy(4).toNanos();

  /** A message that is due again has been tried by then, and reported if it was in vain. */
  private static final long TRIED_AFTER = LONGEST_DELAY.toNanos();

  /** What is known of one; {@code last} is the sequence of the message that reported it last. */
  private record State(String aggregateType, long last, long delay, long since, long reported) {
    State again(String type, long sequence, long now) {
      boolean sameOutage = now - since < delay;
      return sameOutage
          ? new State(type, sequence, delay, since, now)
          : new State(type, sequence, Math.min(delay * 2, LONGEST_DELAY.toNanos()), now, now);
    }
  }

  private final ConcurrentHashMap<String, State> states = new ConcurrentHashMap<>();
  private volatile long deliveredAt;

  /**
   * Reports a destination, and says how long its message should wait. The delay doubles at most
   * once in the time of a delay: many messages may report one outage at once.
   */
  Duration unavailable(String destination, String aggregateType, long sequence, long now) {
    states.values().removeIf(state -> now - state.reported > FORGET_AFTER);
    State state =
        states.merge(
            known(destination),
            new State(aggregateType, sequence, FIRST_DELAY.toNanos(), now, now),
            (old, fresh) -> old.again(aggregateType, sequence, now));
    return Duration.ofNanos(state.delay);
  }

  /** Whether a destination is known to be in trouble, and messages went elsewhere lately. */
  boolean isAlone(String destination, long now) {
    return states.containsKey(known(destination)) && now - deliveredAt < LONGEST_DELAY.toNanos();
  }

  private String known(String destination) {
    return states.size() < MOST || states.containsKey(destination) ? destination : OTHERS;
  }

  void delivered(String aggregateType, long sequence, long now) {
    deliveredAt = now;
    if (!states.isEmpty()) {
      states
          .values()
          .removeIf(
              state ->
                  state.aggregateType.equals(aggregateType)
                      && (state.last == sequence
                          || now - state.reported > state.delay + TRIED_AFTER));
    }
  }
}
