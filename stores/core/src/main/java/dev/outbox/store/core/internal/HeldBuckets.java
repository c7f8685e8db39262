package dev.outbox.store.core.internal;

import dev.outbox.spi.store.Claim;
import dev.outbox.store.core.internal.HoldingRules.Load;
import dev.outbox.store.core.internal.Row.Claimable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The buckets that a relay holds, as far as this process knows. They are leased under one claim id;
 * each is in the hands of one worker, or waits here for the next one. What is remembered here
 * decides nothing: whether a lease is still held is asked in the statement that reads or locks.
 * Safe for use by many threads.
 */
final class HeldBuckets {

  /** So many buckets of which more is known to wait are enough for a claim. */
  private static final int ENOUGH = 16;

  /** After so many claims of buckets with more there is one of all (C6). */
  private static final int MOST_IN_A_ROW = 4;

  /**
   * While messages are handed over, claims look at the buckets after so long all the same: what
   * other processes have appended is announced by nothing.
   */
  private static final Duration LOOKS = Duration.ofMillis(50);

  private final int relay = RelaySign.newNumber();
  private final UUID claimId = RelaySign.claimId(relay);
  private final long unclaimed;
  private final LongSupplier clock;
  private final Map<Integer, One> waiting = new HashMap<>();

  /** Those to be given back as soon as no worker has them. */
  private final Set<Integer> unwanted = new HashSet<>();

  /** Those of which the last read has left something. */
  private final Set<Integer> withMore = new HashSet<>();

  /** By bucket, the leases that workers have. */
  private final Map<Integer, InHand> inHand = new HashMap<>();

  /** By bucket, the highest sequence that a claim here has had: what is below may be settled. */
  private final long[] read = new long[Database.BUCKETS];

  /** The names of those that claim. */
  private final Set<String> workers = new HashSet<>();

  private Claim.@Nullable Request lastRequest;
  private long claimedAt;
  private int inARow;

  /** Whether claims had what was handed over, and none has looked since. */
  private boolean handing;

  private long handingSince;

  /** Whether messages were committed since the last look that could not be handed over. */
  private boolean missed;

  private final RelayLoad load;
  private boolean isShown;
  private boolean closed;

  /**
   * A lease that waits.
   *
   * @param endsAt it lasts until then at least
   * @param servedAt when its bucket had messages last
   * @param handed messages that wait with it and that nobody has read, in sequence order
   */
  record One(Lease lease, long endsAt, long servedAt, List<Claimable> handed) {

    /**
     * @param asked before the database said how long it lasts, by the clock
     */
    static One until(long asked, Lease lease, long servedAt) {
      return new One(lease, asked + lease.left().toNanos(), servedAt, List.of());
    }

    int bucket() {
      return lease.bucket();
    }

    /** After a look, which has read what was handed over. */
    One with(Lease newLease) {
      return new One(newLease, endsAt, servedAt, List.of());
    }

    /**
     * With messages beside it, if they may be published under it and none are there yet. The token
     * says that it is the lease of their append's snapshot, so nobody else has read them before;
     * and of the workers here none has, above what they have read.
     */
    One and(List<Alone> messages, long read) {
      Alone first = messages.get(0);
      return handed.isEmpty()
              && !lease.single()
              && first.token() == lease.token()
              && first.row().sequence() > read
          ? new One(lease, endsAt, servedAt, messages.stream().map(Alone::row).toList())
          : this;
    }
  }

  /**
   * A lease that a worker has.
   *
   * @param lease as the worker got it
   * @param meanwhile what was committed since, and waits until it is back; empty when nothing was
   */
  private record InHand(Lease lease, List<Alone> meanwhile) {}

  /**
   * What a claim works on: nobody else has these until they are back.
   *
   * @param all whether no others wait
   */
  record Taken(List<One> ones, boolean all) {
    List<Lease> leases() {
      return ones.stream().map(One::lease).toList();
    }

    One of(Lease lease) {
      return ones.stream()
          .filter(one -> one.bucket() == lease.bucket())
          .findFirst()
          .orElseThrow(() -> new IllegalStateException("a bucket that was not taken"));
    }
  }

  /**
   * @param unclaimed when no worker has claimed for so long, nothing is held
   * @param clock as {@link System#nanoTime}
   */
  HeldBuckets(Duration unclaimed, LongSupplier clock) {
    this.unclaimed = unclaimed.toNanos();
    this.clock = clock;
    claimedAt = clock.getAsLong() - this.unclaimed;
    load = new RelayLoad(clock);
  }

  int relay() {
    return relay;
  }

  UUID claimId() {
    return claimId;
  }

  // ---- for workers

  /**
   * A worker claims.
   *
   * @return whether it is to have what is held here, or else to lease for itself
   */
  synchronized boolean claims(Claim.Request request) {
    claimedAt = clock.getAsLong();
    lastRequest = request;
    workers.add(request.worker());
    return !closed && (isShown || !waiting.isEmpty());
  }

  /**
   * A worker's share of the buckets that have more, those first that have waited longest. Mostly
   * only these; the others too when there are none, or when it is their turn.
   */
  synchronized Taken take() {
    int share = (withMore.size() + workers.size() - 1) / Math.max(1, workers.size());
    List<One> some =
        inTurn().filter(this::hasMore).limit(Math.min(ENOUGH, Math.max(1, share))).toList();
    inARow = some.isEmpty() || inARow == MOST_IN_A_ROW ? 0 : inARow + 1;
    List<One> taken =
        inARow > 0 ? some : inTurn().filter(one -> !hasMore(one) || some.contains(one)).toList();
    for (One one : taken) {
      waiting.remove(one.bucket());
      inHand.put(one.bucket(), new InHand(one.lease, List.of()));
    }
    return new Taken(taken, waiting.isEmpty());
  }

  private Stream<One> inTurn() {
    return waiting.values().stream()
        .sorted(Comparator.comparingLong(One::servedAt).thenComparing(One::bucket));
  }

  private boolean hasMore(One one) {
    return withMore.contains(one.bucket());
  }

  /**
   * Those of the leases whose messages were handed over, as many as a claim may have.
   *
   * @return empty when none were, or when the claim has to look
   */
  synchronized List<One> handed(Taken taken, Claim.Request request) {
    long now = clock.getAsLong();
    if (taken.ones.stream().allMatch(one -> one.handed.isEmpty())
        || missed
        || !isShown
        || handing && now - handingSince >= LOOKS.toNanos()) {
      missed = false;
      handing = false;
      return List.of();
    }
    handingSince = handing ? handingSince : now;
    handing = true;
    int count = 0;
    long bytes = 0;
    List<One> chosen = new ArrayList<>();
    for (One one : taken.ones) {
      int size = one.handed.stream().mapToInt(Claimable::payloadSize).sum();
      if (!one.handed.isEmpty()
          && one.endsAt - now >= request.lease().toNanos()
          && count + one.handed.size() <= request.maxMessages()
          && bytes + size <= request.maxBytes()) {
        chosen.add(one);
        count += one.handed.size();
        bytes += size;
      }
    }
    return chosen;
  }

  /**
   * Whether leases must be locked before they are read: one may end soon, or hands out its messages
   * singly.
   *
   * @param lease how long a claim must last
   */
  boolean mustBeLocked(Taken taken, Duration lease) {
    long now = clock.getAsLong();
    return taken.ones.stream()
        .anyMatch(one -> one.endsAt - now < lease.toNanos() || one.lease.single());
  }

  /** A claim has found this. */
  synchronized void found(BatchReader.Batch batch, Claim.Request request) {
    batch.rows().forEach(row -> read[row.bucket()] = Math.max(read[row.bucket()], row.sequence()));
    batch.leases().forEach(lease -> noteMore(batch, lease));
    batch.unused().forEach(release -> noteMore(batch, release.lease()));
    load.claimed(batch.rows().size(), request.maxMessages());
  }

  private void noteMore(BatchReader.Batch batch, Lease lease) {
    if (batch.more().contains(lease.bucket())) {
      withMore.add(lease.bucket());
    } else {
      withMore.remove(lease.bucket());
    }
  }

  /** Whether more is known to wait somewhere. */
  synchronized boolean haveMore() {
    return !withMore.isEmpty() || haveNews();
  }

  /** Whether messages were committed that a claim would find now. */
  synchronized boolean haveNews() {
    return missed || waiting.values().stream().anyMatch(one -> !one.handed.isEmpty());
  }

  /** There may be messages that nobody has handed over: the next claim looks. */
  synchronized void mustLook() {
    missed = true;
  }

  /**
   * They wait for the next claim.
   *
   * @return those that are to be given back instead
   */
  synchronized List<Lease> back(Collection<One> ones) {
    List<Lease> given = new ArrayList<>();
    for (One one : ones) {
      if (closed || unwanted.remove(one.bucket())) {
        forget(one.bucket());
        given.add(one.lease);
      } else {
        back(one);
      }
    }
    return given;
  }

  private void back(One one) {
    InHand was = inHand.remove(one.bucket());
    List<Alone> meanwhile = was == null ? List.of() : was.meanwhile;
    One now = meanwhile.isEmpty() ? one : one.and(meanwhile, read[one.bucket()]);
    waiting.put(one.bucket(), now);
    missed |=
        !meanwhile.isEmpty()
            && now == one
            && meanwhile.get(0).row().sequence() > read[one.bucket()]; // no look here has had it
  }

  /** Whether a bucket is to be given back when it is settled. */
  synchronized boolean isUnwanted(int bucket) {
    return closed || unwanted.contains(bucket);
  }

  /** These were lost, or were given back where they were settled. */
  synchronized void forget(int bucket) {
    unwanted.remove(bucket);
    withMore.remove(bucket);
    inHand.remove(bucket);
  }

  // ---- for who appends

  /**
   * The leases that messages could be handed over to, also of those that workers have. None while
   * there is so much that some could not be, and claims look in any case.
   */
  synchronized List<Lease> open() {
    return missed || closed || !isShown
        ? List.of()
        : Stream.concat(
                waiting.values().stream().map(One::lease),
                inHand.values().stream().map(InHand::lease))
            .toList();
  }

  /**
   * Hands over what it can of a transaction that has committed. Where that is not all, the next
   * claim looks. What a worker has the lease of waits until that comes back.
   *
   * @param appended how many messages the transaction has
   * @param alone those that were alone in their buckets, in sequence order
   * @return whether it was all
   */
  synchronized boolean handOver(int appended, List<Alone> alone) {
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
  private boolean handOver(List<Alone> ofBucket) {
    Alone first = ofBucket.get(0);
    int bucket = first.row().bucket();
    One one = waiting.get(bucket);
    boolean done =
        !closed
            && first.claimId().equals(claimId)
            && (one == null ? untilBack(bucket, ofBucket) : beside(one, ofBucket));
    missed |= !done;
    return done;
  }

  private boolean untilBack(int bucket, List<Alone> ofBucket) {
    InHand taken = inHand.get(bucket);
    if (taken == null || !taken.meanwhile.isEmpty()) {
      return false;
    }
    inHand.put(bucket, new InHand(taken.lease, ofBucket));
    return true;
  }

  private boolean beside(One one, List<Alone> ofBucket) {
    One now = one.and(ofBucket, read[one.bucket()]);
    waiting.put(one.bucket(), now);
    return now != one;
  }

  // ---- for who holds

  /** Whether others see that this relay lives: only then it takes buckets, and hands over. */
  synchronized void shown(boolean toOthers) {
    isShown = toOthers;
  }

  synchronized boolean isShown() {
    return isShown;
  }

  /** The last claim's request; null while no worker claims. */
  synchronized Claim.@Nullable Request request() {
    return closed || isUnclaimed() ? null : lastRequest;
  }

  private boolean isUnclaimed() {
    return clock.getAsLong() - claimedAt >= unclaimed;
  }

  /**
   * These were leased just now.
   *
   * @return those that are to be given back instead, where nothing is held any more
   */
  synchronized Collection<Lease> took(long asked, Collection<Lease> leases) {
    if (closed) {
      return leases;
    }
    for (Lease lease : leases) {
      forget(lease.bucket());
      waiting.put(lease.bucket(), One.until(asked, lease, asked));
    }
    return List.of();
  }

  /** Those that wait and last no longer than this. */
  synchronized List<Lease> ending(Duration left) {
    long now = clock.getAsLong();
    return waiting.values().stream()
        .filter(one -> one.endsAt - now <= left.toNanos())
        .map(One::lease)
        .toList();
  }

  /** These were prolonged, as far as they are still held. */
  synchronized void prolonged(
      long asked, Collection<Lease> leases, Set<Integer> held, Duration left) {
    for (Lease lease : leases) {
      One one = waiting.get(lease.bucket());
      if (one == null || one.lease.token() != lease.token()) {
        continue;
      }
      if (held.contains(lease.bucket())) {
        waiting.put(
            lease.bucket(),
            new One(one.lease.lasts(left), asked + left.toNanos(), one.servedAt, one.handed));
      } else {
        waiting.remove(lease.bucket());
        forget(lease.bucket());
      }
    }
  }

  /** Changes what is remembered of one that waits. */
  synchronized void remember(int bucket, UnaryOperator<Lease> change) {
    waiting.computeIfPresent(
        bucket, (b, one) -> new One(change.apply(one.lease), one.endsAt, one.servedAt, one.handed));
  }

  /**
   * Gives buckets away: those that a worker has, as soon as they are back.
   *
   * @return those that wait
   */
  synchronized List<Lease> give(Collection<Integer> buckets) {
    List<Lease> given = new ArrayList<>();
    for (int bucket : buckets) {
      One one = waiting.remove(bucket);
      forget(bucket);
      if (one == null) {
        unwanted.add(bucket);
      } else {
        given.add(one.lease);
      }
    }
    return given;
  }

  /** These may not have been given back: a claim locks them, and so sees whether they are held. */
  synchronized void keep(Collection<Lease> leases) {
    long now = clock.getAsLong();
    if (!closed) {
      leases.forEach(l -> waiting.putIfAbsent(l.bucket(), new One(l, now, now, List.of())));
    }
  }

  /** All that wait, where no worker has claimed for too long. */
  synchronized List<Lease> giveUnclaimed() {
    return isUnclaimed() ? give(Set.copyOf(waiting.keySet())) : List.of();
  }

  /** From now on nothing more is held; returns what waits. */
  synchronized List<Lease> close() {
    closed = true;
    return give(Set.copyOf(waiting.keySet()));
  }

  synchronized boolean isClosed() {
    return closed;
  }

  /** How busy the relay is, since this was asked last. */
  synchronized Load load() {
    if (waiting.isEmpty() && inHand.isEmpty()) {
      load.claimed(0, 1); // no claim says it where there is nothing to claim
    }
    return load.now(lastRequest == null ? Integer.MAX_VALUE : lastRequest.maxMessages());
  }
}
