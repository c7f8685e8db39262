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

  private final LongSupplier clock;

  /** By bucket, the sequences of messages whose commit has waited for the disk. */
  private final Map<Integer, Set<Long>> committed = new HashMap<>();

  private int count;

  /** Whether there may be messages anywhere. */
  private boolean anywhere;

  /** Whether claims have followed the news since the last look at all buckets. */
  private boolean isFollowed;

  private long followedSince;

  /**
   * @param clock as {@link System#nanoTime}
   */
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
    committed.computeIfAbsent(bucket, b -> new HashSet<>()).addAll(sequences);
    count += sequences.size();
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

  void follow() {
    followedSince = isFollowed ? followedSince : clock.getAsLong();
    isFollowed = true;
  }

  /** All buckets are about to be looked at. */
  void lookAtAll() {
    anywhere = false;
    isFollowed = false;
  }

  /** This bucket is about to be looked at, or is no longer held: returns what was known of it. */
  Set<Long> lookAt(int bucket) {
    Set<Long> sequences = committed.remove(bucket);
    if (sequences == null) {
      return Set.of();
    }
    count -= sequences.size();
    return sequences;
  }

  /** A claim has these: nobody needs to look for them. */
  void found(int bucket, long sequence) {
    Set<Long> sequences = committed.get(bucket);
    if (sequences != null && sequences.remove(sequence)) {
      count--;
      if (sequences.isEmpty()) {
        committed.remove(bucket);
      }
    }
  }
}
