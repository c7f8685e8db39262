package dev.outbox.publisher.http;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Places in trouble: endpoints, and origins that cannot be connected to. One is left alone for a
 * pause, which doubles while the trouble lasts, or for as long as it asked for by Retry-After; then
 * one request at a time tries. So an endpoint gets no request before the time that it named, and
 * one that hangs holds up a call once in a pause. Kept in memory only; all times are those of
 * {@link System#nanoTime}.
 */
final class EndpointPauses {
  static final Duration FIRST_PAUSE = Duration.ofMillis(250);
  static final Duration LONGEST_PAUSE = Duration.ofSeconds(8);

  /** A place that asks for more is tried after this: it may have meant something else. */
  static final Duration LONGEST_RETRY_AFTER = Duration.ofHours(1);

  /** Nobody has sent anything there since; its next trouble is a new one. */
  private static final long FORGET_AFTER = LONGEST_PAUSE.multipliedBy(8).toNanos();

  /** What is known of a place; {@code trying} is whether a request is on its way to find out. */
  private record State(String error, long pause, long until, boolean trying) {
    boolean lets(long now) {
      return !trying && until - now <= 0;
    }

    boolean isOver(long now) {
      return now - until > FORGET_AFTER;
    }

    State tried() {
      return new State(error, pause, until, true);
    }
  }

  private static final int MANY = 1_000;

  private final Map<String, State> states = new ConcurrentHashMap<>();

  /** With so many, old ones are forgotten: each message may have an endpoint of its own. */
  private volatile int forgetAt = MANY;

  /**
   * Whether a request may be sent to all of these places now. One that may ends with {@link
   * #works}, {@link #inTrouble} or {@link #unknown} for each of them.
   *
   * @return why not; null when it may
   */
  @Nullable String enter(List<String> places, long now) {
    for (int i = 0; i < places.size(); i++) {
      String error = enter(places.get(i), now);
      if (error != null) {
        unknown(places.subList(0, i));
        return error;
      }
    }
    return null;
  }

  private @Nullable String enter(String place, long now) {
    State[] found = new State[1];
    states.computeIfPresent(
        place,
        (p, state) -> {
          found[0] = state;
          return state.lets(now) ? state.tried() : state;
        });
    return found[0] == null || found[0].lets(now) ? null : found[0].error;
  }

  /** They take requests again. */
  void works(List<String> places) {
    places.forEach(states::remove);
  }

  /** The request ended without telling anything about the places. */
  void unknown(List<String> places) {
    places.forEach(
        place ->
            states.computeIfPresent(
                place, (p, state) -> new State(state.error, state.pause, state.until, false)));
  }

  /**
   * It took no request.
   *
   * @param retryAfter how long it asked to be left alone; null: it did not ask
   */
  void inTrouble(String place, String error, @Nullable Duration retryAfter, long now) {
    if (states.size() >= forgetAt) {
      states.values().removeIf(state -> state.isOver(now));
      forgetAt = Math.max(MANY, 2 * states.size());
    }
    states.merge(
        place,
        new State(
            error, FIRST_PAUSE.toNanos(), now + pause(retryAfter, FIRST_PAUSE.toNanos()), false),
        (old, first) -> old.isOver(now) ? first : again(old, error, retryAfter, now));
  }

  /** Requests that were on their way together are one trouble. */
  private static State again(State old, String error, @Nullable Duration retryAfter, long now) {
    if (old.until - now > 0) {
      long until = retryAfter == null ? old.until : now + pause(retryAfter, 0);
      return new State(error, old.pause, until - old.until > 0 ? until : old.until, old.trying);
    }
    long pause = Math.min(old.pause * 2, LONGEST_PAUSE.toNanos());
    return new State(error, pause, now + pause(retryAfter, pause), false);
  }

  private static long pause(@Nullable Duration retryAfter, long otherwise) {
    if (retryAfter == null) {
      return otherwise;
    }
    return retryAfter.compareTo(LONGEST_RETRY_AFTER) > 0
        ? LONGEST_RETRY_AFTER.toNanos()
        : retryAfter.toNanos();
  }
}
