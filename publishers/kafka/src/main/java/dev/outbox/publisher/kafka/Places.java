package dev.outbox.publisher.kafka;

import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Where something is wrong, across calls, so that a dead place does not hold up the others. */
final class Places {
  private static final int MOST = 10_000;

  private final Timing timing;
  private final ConcurrentHashMap<Place, Trouble> troubled = new ConcurrentHashMap<>();

  /**
   * Immutable, and changed in the map only, so that none is lost or counted twice.
   *
   * @param stuck records that a call gave up on and that are still on their way
   * @param slow whether it did not acknowledge in time the last time
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

  /** Whether records given up on are still on their way there. */
  boolean isStuck(Place place) {
    return !troubled.isEmpty() && Trouble.of(troubled.get(place)).stuck > 0;
  }

  /** How long to wait for it while the broker answers, in nanoseconds. */
  long patience(Place place) {
    return Trouble.of(troubled.get(place)).slow ? timing.impatience() : timing.patience();
  }

  void slow(Place place) {
    if (troubled.size() > MOST) {
      troubled.replaceAll((p, t) -> t.stuck == 0 ? Trouble.NONE : t);
      troubled.values().removeIf(Trouble.NONE::equals);
    }
    troubled.compute(place, (p, known) -> new Trouble(Trouble.of(known).stuck, true));
  }

  void acknowledged(Place place) {
    if (!troubled.isEmpty()) {
      troubled.computeIfPresent(place, (p, t) -> new Trouble(t.stuck, false).orNull());
    }
  }

  /** A call gives up on a record: to be called before its callback can find that out. */
  void left(Place place) {
    troubled.compute(
        place, (p, known) -> new Trouble(Trouble.of(known).stuck + 1, Trouble.of(known).slow));
  }

  /** Such a record has ended, or was not left after all. */
  void ended(Place place, boolean delivered) {
    troubled.computeIfPresent(
        place, (p, t) -> new Trouble(Math.max(0, t.stuck - 1), t.slow && !delivered).orNull());
  }
}
