package dev.outbox.publisher.rabbitmq;

import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Destinations that do not confirm, across calls, so that a dead one does not hold up the others:
 * as a quorum queue that has lost its majority.
 */
final class Places {
  private static final int MOST = 10_000;

  private final Timing timing;
  private final ConcurrentHashMap<Destination, Trouble> troubled = new ConcurrentHashMap<>();

  /**
   * Immutable, and changed in the map only, so that none is lost or counted twice.
   *
   * @param stuck messages that a call gave up on and that are still on their way
   * @param slow whether it did not confirm in time the last time
   */
  private record Trouble(int stuck, boolean slow) {
    static final Trouble NONE = new Trouble(0, false);

    static Trouble of(@Nullable Trouble known) {
      return known == null ? NONE : known;
    }

    @Nullable Trouble orNull() {
      return equals(NONE) ? null : this;
    }
  }

  Places(Timing timing) {
    this.timing = timing;
  }

  /** Whether messages given up on are still on their way there. */
  boolean isStuck(Destination to) {
    return !troubled.isEmpty() && Trouble.of(troubled.get(to)).stuck > 0;
  }

  /** Whether it did not confirm in time the last time. */
  boolean isSlow(Destination to) {
    return !troubled.isEmpty() && Trouble.of(troubled.get(to)).slow;
  }

  /** How long to wait for it while the broker answers, in nanoseconds. */
  long patience(Destination to) {
    return isSlow(to) ? timing.impatience() : timing.patience();
  }

  void slow(Destination to) {
    if (troubled.size() > MOST) {
      troubled.replaceAll((p, t) -> t.stuck == 0 ? Trouble.NONE : t);
      troubled.values().removeIf(Trouble.NONE::equals);
    }
    troubled.compute(to, (p, known) -> new Trouble(Trouble.of(known).stuck, true));
  }

  void confirmed(Destination to) {
    if (!troubled.isEmpty()) {
      troubled.computeIfPresent(to, (p, t) -> new Trouble(t.stuck, false).orNull());
    }
  }

  /** A call gives up on a message: to be called before its confirm can find that out. */
  void left(Destination to) {
    troubled.compute(
        to, (p, known) -> new Trouble(Trouble.of(known).stuck + 1, Trouble.of(known).slow));
  }

  /** Such a message has ended, or was not left after all. */
  void ended(Destination to, boolean confirmed) {
    troubled.computeIfPresent(
        to, (p, t) -> new Trouble(Math.max(0, t.stuck - 1), t.slow && !confirmed).orNull());
  }
}
