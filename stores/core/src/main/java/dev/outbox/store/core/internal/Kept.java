package dev.outbox.store.core.internal;

import dev.outbox.spi.store.Claim;
import dev.outbox.store.core.internal.Row.Claimable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The leases that the workers of one relay keep while they have nothing to do in them. They are
 * held under one claim id, and each is in the hands of one worker or waits here for the next one.
 * What is remembered here decides nothing: whether a lease is still held is asked in the statement
 * that reads or locks. Safe for use by many threads.
 *
 * <p>A bucket is kept when it was served twice within the time that it may be idle: one that is
 * served seldom costs less when it is given back with its messages.
 */
public final class Kept {

  /**
   * After so long without a lease of others one is tried: what another relay left behind is not
   * told by anything.
   */
  private static final Duration LEASES_NOW_AND_THEN = Duration.ofMillis(250);

  /**
   * After so long without a lease of others, all is given back: looks that find messages each time
   * would leave those of other buckets where they are (C6).
   */
  private static final Duration GIVES_ALL_BACK = LEASES_NOW_AND_THEN.multipliedBy(2);

  /**
   * While messages are handed over, claims look at the leases after so long all the same: what
   * other processes have appended is announced by nothing.
   */
  private static final Duration LOOKS = Duration.ofMillis(50);

  /** For claims that stand for themselves. */
  static final Kept NOTHING = new Kept(null, new ClaimIds(), Duration.ZERO, () -> 0);

  private final @Nullable UUID claimId;
  private final ClaimIds ids;
  private final long idle;
  private final LongSupplier clock;
  private final Map<Integer, One> waiting = new HashMap<>();

  /** By bucket, what was committed while a worker had the lease. */
  private final Map<Integer, List<Alone>> inHand = new HashMap<>();

  private final long[] servedAt = new long[Database.BUCKETS];

  /** By bucket, the highest sequence that a claim here has had: what is below may be settled. */
  private final long[] read = new long[Database.BUCKETS];

  private long leasedAt;
  private long takenAt;

  /** Whether claims had what was handed over, and none has looked since. */
  private boolean handing;

  private long handingSince;

  /** Whether messages were committed since the last look that could not be handed over. */
  private boolean missed;

  private volatile boolean closed;
  private volatile boolean durable = true;

  /**
   * A lease that is kept.
   *
   * @param endsAt it lasts until then at least
   * @param usedAt when its bucket had messages last
   * @param handed messages that wait with it and that nobody has read, in sequence order
   */
  record One(Lease lease, long endsAt, long usedAt, List<Claimable> handed) {

    /**
     * @param asked before the database said how long it lasts, by the clock
     */
    static One until(long asked, Lease lease, long usedAt) {
      return new One(lease, asked + lease.left().toNanos(), usedAt, List.of());
    }

    int bucket() {
      return lease.bucket();
    }

    /** After a look, which has read what was handed over. */
    One with(Lease newLease) {
      return new One(newLease, endsAt, usedAt, List.of());
    }

    /**
     * With messages beside it, if they may be published under it and none are there yet. The token
     * says that it is the lease of their append's snapshot, so nobody else has read them before;
     * and of the workers here none has, above what they have read.
     */
    One and(List<Alone> messages, long read) {
      Alone first = messages.get(0);
      return handed.isEmpty() && first.token() == lease.token() && first.row().sequence() > read
          ? new One(lease, endsAt, usedAt, messages.stream().map(Alone::row).toList())
          : this;
    }
  }

  private Kept(@Nullable UUID claimId, ClaimIds ids, Duration idle, LongSupplier clock) {
    this.claimId = claimId;
    this.ids = ids;
    this.idle = idle.toNanos();
    this.clock = clock;
    leasedAt = clock.getAsLong();
    takenAt = leasedAt;
    Arrays.fill(servedAt, leasedAt - this.idle);
  }

  /**
   * @param idle how long a bucket without messages is kept; zero: none is
   * @param clock as {@link System#nanoTime}
   */
  static Kept idleFor(Duration idle, ClaimIds ids, LongSupplier clock) {
    return new Kept(idle.isZero() ? null : ids.next(), ids, idle, clock);
  }

  boolean keeps() {
    return claimId != null && !closed;
  }

  /** For a claim that begins. */
  UUID claimId() {
    return claimId == null ? ids.next() : claimId;
  }

  /**
   * All that wait, in ascending order of their buckets: nobody else has them until they are back.
   */
  List<One> take() {
    if (claimId == null) { // all claims of the process share it: no lock
      return List.of();
    }
    synchronized (this) {
      takenAt = clock.getAsLong();
      List<One> all =
          waiting.values().stream().sorted(Comparator.comparingInt(One::bucket)).toList();
      waiting.clear();
      return all;
    }
  }

  /** All that wait, where no claim has taken them for too long. */
  synchronized List<One> takeUnused() {
    return clock.getAsLong() - takenAt >= idle ? take() : List.of();
  }

  /**
   * The leases that messages could be handed over to. None while there is so much that some could
   * not be, and claims look in any case.
   */
  public synchronized List<Lease> open() {
    return missed || closed ? List.of() : waiting.values().stream().map(One::lease).toList();
  }

  /**
   * Hands over what it can of a transaction that has committed. Where that is not all, the next
   * claim looks.
   *
   * @param appended how many messages the transaction has
   * @param alone those that were alone in their buckets, in sequence order
   * @return whether it was all
   */
  public synchronized boolean handOver(int appended, List<Alone> alone) {
    boolean all = alone.size() == appended;
    missed |= !all;
    for (List<Alone> ofBucket :
        alone.stream().collect(Collectors.groupingBy(m -> m.row().bucket())).values()) {
      all &= handOver(ofBucket);
    }
    return all;
  }

  /**
   * Messages of one bucket are put beside its lease, when that waits here or comes back. A bucket
   * has room for one append at a time.
   */
  private boolean handOver(List<Alone> messages) {
    Alone first = messages.get(0);
    int bucket = first.row().bucket();
    One one = waiting.get(bucket);
    if (closed || !first.claimId().equals(claimId)) {
      missed = true;
    } else if (one == null) {
      missed |= inHand.putIfAbsent(bucket, messages) != null;
    } else {
      One now = one.and(messages, read[bucket]);
      waiting.put(bucket, now);
      missed |= now == one;
      return now != one;
    }
    return false;
  }

  /** A claim has these messages. */
  void read(Collection<Claimable> rows) {
    if (claimId != null) {
      synchronized (this) {
        rows.forEach(row -> read[row.bucket()] = Math.max(read[row.bucket()], row.sequence()));
      }
    }
  }

  /**
   * Those of the leases whose messages were handed over, as many as a claim may have.
   *
   * @return empty when none were, or when the claim has to look
   */
  synchronized List<One> handed(List<One> taken, Claim.Request request) {
    long now = clock.getAsLong();
    if (taken.stream().allMatch(one -> one.handed.isEmpty())
        || missed
        || handing && now - handingSince >= LOOKS.toNanos()
        || leasesNowAndThen()) {
      missed = false;
      handing = false;
      return List.of();
    }
    handingSince = handing ? handingSince : now;
    handing = true;
    int messages = 0;
    long bytes = 0;
    List<One> chosen = new ArrayList<>();
    for (One one : taken) {
      int size = one.handed.stream().mapToInt(Claimable::payloadSize).sum();
      if (!one.handed.isEmpty()
          && one.endsAt - now >= request.lease().toNanos()
          && messages + one.handed.size() <= request.maxMessages()
          && bytes + size <= request.maxBytes()) {
        chosen.add(one);
        messages += one.handed.size();
        bytes += size;
      }
    }
    return chosen;
  }

  /** They wait for the next claim. */
  void add(Collection<One> leases) {
    if (!leases.isEmpty()) {
      synchronized (this) {
        leases.forEach(this::add);
      }
    }
  }

  private void add(One one) {
    List<Alone> meanwhile = inHand.remove(one.bucket());
    One now = meanwhile == null ? one : one.and(meanwhile, read[one.bucket()]);
    waiting.put(one.bucket(), now);
    missed |=
        meanwhile != null
            && now == one
            && meanwhile.get(0).row().sequence() > read[one.bucket()]; // no look here has had it
  }

  /**
   * Whether leases must be locked before they are read: one may end soon, or must be given back, or
   * what is found there must not stand in the way of others.
   *
   * @param lease how long a claim must last
   */
  boolean wantCloseLook(List<One> taken, Duration lease) {
    long now = clock.getAsLong();
    boolean othersTurn = leasesNowAndThen();
    return taken.stream()
        .anyMatch(
            one ->
                one.endsAt - now < lease.toNanos()
                    || isOver(one)
                    || othersTurn && !one.handed.isEmpty());
  }

  /** Whether a bucket must be given back: it had no messages for so long, or others wait. */
  boolean isOver(One one) {
    return clock.getAsLong() - one.usedAt >= idle || givesAllBack();
  }

  synchronized boolean givesAllBack() {
    return clock.getAsLong() - leasedAt >= GIVES_ALL_BACK.toNanos();
  }

  /** A bucket's messages were settled; returns whether its lease is to be kept, if any are. */
  synchronized boolean served(int bucket) {
    long now = clock.getAsLong();
    boolean again = wouldKeep(bucket);
    servedAt[bucket] = now;
    return again;
  }

  /** Whether a bucket's lease is to be kept when its messages are settled now. */
  synchronized boolean wouldKeep(int bucket) {
    return keeps() && clock.getAsLong() - servedAt[bucket] < idle;
  }

  /**
   * Whether what the last look brought was durable; then what the next one brings mostly is too.
   */
  boolean isDurable() {
    return durable;
  }

  void durable(boolean lookWasDurable) {
    durable = lookWasDurable;
  }

  /** Others are leased now. */
  void leases() {
    if (claimId != null) {
      synchronized (this) {
        leasedAt = clock.getAsLong();
      }
    }
  }

  /** Whether it is time to look for others, though nothing says that there are any. */
  synchronized boolean leasesNowAndThen() {
    return clock.getAsLong() - leasedAt >= LEASES_NOW_AND_THEN.toNanos();
  }

  /** From now on nothing more is kept. */
  void close() {
    closed = true;
  }
}
