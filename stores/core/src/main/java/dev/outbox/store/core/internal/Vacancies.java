package dev.outbox.store.core.internal;

import static java.util.stream.Collectors.toSet;

import dev.outbox.store.core.internal.Holding.SeenBucket;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * How long buckets have been vacant, under the same token: a relay whose session broke comes back
 * in a shorter time.
 */
final class Vacancies {

  /** A bucket that has been vacant for so long may be taken. A second look is a little later. */
  static final Duration LONG = Duration.ofMillis(350);

  /** One that is ready for it may stand still: after so long others take it all the same. */
  static final Duration TOO_LONG = Duration.ofSeconds(3);

  /**
   * What has been vacant for how long.
   *
   * @param forLong for {@link #LONG}
   * @param tooLong for {@link #TOO_LONG}
   */
  record Vacant(Set<SeenBucket> forLong, Set<SeenBucket> tooLong) {}

  /** By {@link System#nanoTime}. */
  private Map<SeenBucket, Long> since = Map.of();

  /**
   * A look has found these.
   *
   * @param asked before the look
   * @param answered after it
   */
  Vacant seen(Set<SeenBucket> vacant, long asked, long answered) {
    Map<SeenBucket, Long> times = new HashMap<>();
    vacant.forEach(each -> times.put(each, since.getOrDefault(each, answered)));
    since = times;
    return new Vacant(before(asked - LONG.toNanos()), before(asked - TOO_LONG.toNanos()));
  }

  private Set<SeenBucket> before(long time) {
    return since.entrySet().stream()
        .filter(each -> each.getValue() - time <= 0)
        .map(Map.Entry::getKey)
        .collect(toSet());
  }

  /** Forgets what was vacant: all of it may have become so just now. */
  void forget() {
    since = Map.of();
  }
}
