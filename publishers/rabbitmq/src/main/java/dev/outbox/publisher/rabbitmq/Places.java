package dev.outbox.publisher.rabbitmq;

import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Destinations that do not confirm, across calls, so that a dead one does not hold up the others:
 * as a quorum queue that has lost its majority.
 */
final class Places {
  private static final int MOST = 10_000;

  /** After so many times the patience, what was given up on is taken for lost. */
  private static final int FORGET = 20;

  private final Timing timing;
  private final ConcurrentHashMap<Place, Trouble> troubled = new ConcurrentHashMap<>();

  /**
   * Immutable, and changed in the map only, so that none is lost or counted twice.
   *
   * @param stuck messages that a call gave up on and that are still on their way
   * @param leftAt when the last of them was given up
   * @param slow whether it did not confirm in time the last time
   */
  private record Trouble(int stuck, long leftAt, boolean slow) {
    static final Trouble NONE = new Trouble(0, 0, false);

    static Trouble of(@Nullable Trouble known) {
      return known == null ? NONE : known;
    }

    @Nullable Trouble orNull() {
      return stuck > 0 || slow ? this : null;
    }
  }

  Places(Timing timing) {
    this.timing = timing;
  }

  /** Whether messages given up on are still on their way there; not for ever, if one got lost. */
  boolean isStuck(Place to) {
    Trouble known = troubled.isEmpty() ? null : troubled.get(to);
    return known != null
        && known.stuck > 0
        && System.nanoTime() - known.leftAt < FORGET * timing.patience();
  }

  /** Whether it did not confirm in time the last time. */
  boolean isSlow(Place to) {
    return !troubled.isEmpty() && Trouble.of(troubled.get(to)).slow;
  }

  /** How long to wait for it while the broker answers, in nanoseconds. */
  long patience(Place to) {
    return isSlow(to) ? timing.impatience() : timing.patience();
  }

  void slow(Place to) {
    if (troubled.size() > MOST) {
      troubled.values().removeIf(t -> t.stuck == 0);
    }
    troubled.compute(
        to,
        (p, known) -> {
          Trouble before = Trouble.of(known);
          return new Trouble(before.stuck, before.leftAt, true);
        });
  }

  void confirmed(Place to) {
    if (!troubled.isEmpty()) {
      troubled.computeIfPresent(to, (p, t) -> new Trouble(t.stuck, t.leftAt, false).orNull());
    }
  }

  /** A call gives up on a message: to be called before its confirm can find that out. */
  void left(Place to) {
    troubled.compute(
        to,
        (p, known) -> {
          Trouble before = Trouble.of(known);
          return new Trouble(before.stuck + 1, System.nanoTime(), before.slow);
        });
  }

  /** Such a message has ended, or was not left after all. */
  void ended(Place to, boolean confirmed) {
    troubled.computeIfPresent(
        to,
        (p, t) -> new Trouble(Math.max(0, t.stuck - 1), t.leftAt, t.slow && !confirmed).orNull());
  }
}
