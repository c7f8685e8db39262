package dev.outbox.relay;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Trouble that lasts is told once, then counted, and told again at growing intervals; its end says
 * how long it took. Trouble that was not reported for a while is over. Safe for use by many
 * threads.
 */
final class TroubleLog {
  static final Duration FIRST_INTERVAL = Duration.ofMinutes(1);
  static final Duration LONGEST_INTERVAL = Duration.ofHours(1);

  /** All are looked at with each report. */
  static final int MOST = 100;

  private static final long FORGET_AFTER = Duration.ofMinutes(15).toNanos();

  /** What is known of one; {@code told} whether the last report was to be written. */
  private record Trouble(
      long since, long reported, long count, long interval, long tellAt, boolean told) {
    static Trouble at(long now) {
      long interval = FIRST_INTERVAL.toNanos();
      return new Trouble(now, now, 1, interval, now + interval, true);
    }

    Trouble again(long now) {
      boolean due = now - tellAt >= 0;
      long longer = due ? Math.min(interval * 2, LONGEST_INTERVAL.toNanos()) : interval;
      return new Trouble(since, now, count + 1, longer, due ? now + longer : tellAt, due);
    }

    String soFar(long now) {
      Duration time = Duration.ofNanos(now - since);
      String length =
          time.compareTo(Duration.ofMinutes(2)) < 0
              ? time.toSeconds() + " s"
              : time.toMinutes() + " min";
      return "after %s and %s %s".formatted(length, count, count == 1 ? "try" : "tries");
    }
  }

  private final LongSupplier clock;
  private final Map<String, Trouble> troubles = new ConcurrentHashMap<>();

  TroubleLog(LongSupplier clock) {
    this.clock = clock;
  }

  /**
   * Counts a report.
   *
   * @return null when it was told lately; otherwise what to add to its text: nothing when it is
   *     new, else how long it has lasted and how often it was reported
   */
  @Nullable String reported(String subject) {
    long now = forgetOld();
    Trouble trouble = troubles.merge(subject, Trouble.at(now), (old, fresh) -> old.again(now));
    if (!trouble.told) {
      return null;
    }
    return trouble.count == 1 ? "" : " (still, %s)".formatted(trouble.soFar(now));
  }

  /** Whether it is known, or not too many others are. */
  boolean hasRoomFor(String subject) {
    long ignored = forgetOld();
    return lasts(subject) || troubles.size() < MOST;
  }

  private long forgetOld() {
    long now = clock.getAsLong();
    troubles.values().removeIf(trouble -> now - trouble.reported > FORGET_AFTER);
    return now;
  }

  boolean lasts(String subject) {
    return troubles.containsKey(subject);
  }

  /**
   * Ends a trouble; how long it took and how often it was reported, or null when there was none.
   */
  @Nullable String ended(String subject) {
    Trouble trouble = troubles.remove(subject);
    return trouble == null ? null : trouble.soFar(clock.getAsLong());
  }
}
