package dev.outbox.store.core.internal;

import dev.outbox.store.core.internal.Database.SeenBucket;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * How long buckets have been vacant, under the same token: a relay whose session broke comes back
 * in a shorter time.
 */
final class Vacancies {

  /** A bucket that has been vacant for so long may be taken. A second look is a little later. */
  static final Duration LONG = Duration.ofMillis(350);

  /** By {@link System#nanoTime}. */
  private Map<SeenBucket, Long> since = Map.of();

  /**
   * A look has found these.
   *
   * @param asked before the look
   * @param answered after it
   * @return those that nobody has had for long
   */
  Set<SeenBucket> forLong(Set<SeenBucket> vacant, long asked, long answered) {
    Map<SeenBucket, Long> times = new HashMap<>();
    Set<SeenBucket> forLong = new HashSet<>();
    for (SeenBucket each : vacant) {
      long time = since.getOrDefault(each, answered);
      times.put(each, time);
      if (asked - time >= LONG.toNanos()) {
        forLong.add(each);
      }
    }
    since = times;
    return forLong;
  }

  /** Forgets what was vacant: all of it may have become so just now. */
  void forget() {
    since = Map.of();
  }
}
