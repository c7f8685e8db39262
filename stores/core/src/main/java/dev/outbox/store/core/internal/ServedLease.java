package dev.outbox.store.core.internal;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;

/**
 * A lease, and when its bucket was served last. Buckets take turns by that time.
 *
 * @param at when the bucket was last served
 */
public record ServedLease(Instant at, Lease lease) {

  /** The leases, those first that have waited longest. */
  public static List<Lease> inTurn(List<ServedLease> leases) {
    return leases.stream()
        .sorted(
            Comparator.comparing(ServedLease::at).thenComparing(served -> served.lease().bucket()))
        .map(ServedLease::lease)
        .toList();
  }

  /**
   * Takes buckets in turn until there are enough: of those tried, others may have some.
   *
   * @param attempt takes what it can of some candidates
   */
  public static <C, T> List<T> upTo(
      int share, List<C> candidates, Function<List<C>, Collection<T>> attempt) {
    List<T> taken = new ArrayList<>();
    for (int from = 0; from < candidates.size() && taken.size() < share; ) {
      int to = Math.min(candidates.size(), from + share - taken.size());
      taken.addAll(attempt.apply(candidates.subList(from, to)));
      from = to;
    }
    return taken;
  }
}
