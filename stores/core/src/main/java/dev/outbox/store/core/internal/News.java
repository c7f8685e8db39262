package dev.outbox.store.core.internal;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * What is known to have been committed to the buckets that a relay holds, and that no claim has
 * looked for since. A claim that follows it asks of a few buckets instead of all. {@link
 * HeldBuckets} lets one thread at a time in.
 */
final class News {
  /**
   * While claims follow the news, they look at all buckets after so long all the same: what is
   * appended without a relay is announced by nothing.
   */
  private static final Duration LOOKS = Duration.ofMillis(50);

  /** With more than so many messages it is not worth while to know where they are. */
  private static final int MOST = 1000;

  private static final long UNKNOWN = -1;

  private final LongSupplier clock;

  /**
   * By bucket, the sequences of messages whose commit has waited for the disk; {@link #UNKNOWN}
   * where there may be others.
   */
  private final Map<Integer, Set<Long>> committed = new HashMap<>();

  private int count;

  /** Whether there may be messages anywhere. */
  private boolean anywhere;

  private boolean isFollowed;
  private long followedSince;

  News(LongSupplier clock) {
    this.clock = clock;
  }

  void addAnything() {
    anywhere = true;
    committed.clear();
    count = 0;
  }

  void add(int bucket, Collection<Long> sequences) {
    if (anywhere) {
      return;
    }
    Set<Long> known = committed.computeIfAbsent(bucket, b -> new HashSet<>());
    count -= known.size();
    known.addAll(sequences);
    count += known.size();
    if (count > MOST) {
      addAnything();
    }
  }

  boolean isAnywhere() {
    return anywhere;
  }

  boolean isOf(int bucket) {
    return committed.containsKey(bucket);
  }

  /** Whether a claim may do without a look at all buckets. */
  boolean mayBeFollowed() {
    return !anywhere && !(isFollowed && clock.getAsLong() - followedSince >= LOOKS.toNanos());
  }

  /** Whether claims have followed the news since the last look at all buckets. */
  boolean isFollowed() {
    return isFollowed;
  }

  void follow() {
    followedSince = isFollowed ? followedSince : clock.getAsLong();
    isFollowed = true;
  }

  /**
   * All buckets are about to be looked at, but for some.
   *
   * @param inHand those that workers have: there may be messages in them, too
   */
  void lookAtAll(Collection<Integer> inHand) {
    isFollowed = false;
    if (anywhere) {
      anywhere = false;
      inHand.forEach(bucket -> add(bucket, Set.of(UNKNOWN)));
    }
  }

  void forget(int bucket) {
    Set<Long> sequences = committed.remove(bucket);
    count -= sequences == null ? 0 : sequences.size();
  }

  /** This bucket is about to be looked at: returns what was known of it. */
  Set<Long> lookAt(int bucket) {
    Set<Long> sequences = committed.getOrDefault(bucket, Set.of());
    forget(bucket);
    return sequences;
  }
}
