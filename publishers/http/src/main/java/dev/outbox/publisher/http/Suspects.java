package dev.outbox.publisher.http;

import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Messages on which an endpoint hung, broke off, or answered that something is wrong with itself.
 * As long as it takes no other message it is the endpoint. When it did so with one message again
 * and again, and took others in between, it is the message: it then has failed (P3). Kept in memory
 * only.
 */
final class Suspects {
  /** So often in trouble, with others delivered in between, a message is to blame. */
  static final int ENOUGH = 3;

  /** More at once are an outage. */
  static final int MOST = 100;

  /** Longer than a relay waits between two attempts. */
  static final Duration FORGET_AFTER = Duration.ofMinutes(15);

  /** Who is to blame. */
  enum Blame {
    MESSAGE,
    /** The message, or an outage that begins. */
    UNKNOWN,
    ENDPOINT
  }

  /**
   * What is known of a message.
   *
   * @param times how often it was in trouble beside others that were delivered
   * @param others whether others of its endpoint were delivered since it was in trouble last
   */
  private record State(String place, int times, boolean others, long seen) {
    boolean isAlone(String at) {
      return !others && place.equals(at);
    }

    State beside(String at) {
      return isAlone(at) ? new State(place, times, true, seen) : this;
    }
  }

  private final Map<UUID, State> states = new ConcurrentHashMap<>();
  private final LongSupplier clock;

  Suspects(LongSupplier clock) {
    this.clock = clock;
  }

  boolean has(StoredMessage message) {
    return states.containsKey(message.message().id());
  }

  /** Whether one is in trouble there, and no other one was delivered since. */
  boolean areAt(String place) {
    return states.values().stream().anyMatch(state -> state.isAlone(place));
  }

  /** There is no answer yet: from now on others may be delivered beside it. */
  void watch(StoredMessage message, String place) {
    if (!has(message)) {
      put(message, new State(place, 0, false, clock.getAsLong()));
    }
  }

  /** It was in trouble. */
  Blame blame(StoredMessage message, String place) {
    State before = states.get(message.message().id());
    if (before == null || !before.place.equals(place)) {
      before = new State(place, 0, !areAt(place), 0);
    }
    int times = before.times + (before.others ? 1 : 0);
    put(message, new State(place, times, false, clock.getAsLong()));
    if (!before.others) {
      return Blame.ENDPOINT;
    }
    return times >= ENOUGH ? Blame.MESSAGE : Blame.UNKNOWN;
  }

  private void put(StoredMessage message, State state) {
    states.values().removeIf(old -> state.seen - old.seen > FORGET_AFTER.toNanos());
    if (states.size() < MOST || has(message)) {
      states.put(message.message().id(), state);
    }
  }

  /** The endpoint took this one. */
  void delivered(StoredMessage message, String place) {
    states.remove(message.message().id());
    states.replaceAll((id, state) -> state.beside(place));
  }
}
