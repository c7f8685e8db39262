package dev.outbox.store.core.internal;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.store.Claim;
import dev.outbox.store.core.internal.AppendReport.Candidate;
import dev.outbox.store.core.internal.Holding.SeenBucket;
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
import java.util.function.Predicate;
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

  /** The most buckets that a claim gets of those in which more is known to wait. */
  private static final int ENOUGH = 16;

  /** After so many claims of buckets with more there is one of all (C6). */
  private static final int MOST_IN_A_ROW = 4;

  /** A session that begins takes some milliseconds, but a pool may keep who asks waiting. */
  static final Duration BEGINS = Duration.ofSeconds(5);

  private final int relay = RelayPresence.newNumber();
  private final UUID claimId = RelayPresence.claimId(relay);
  private final long unclaimed;
  private final LongSupplier clock;

  /** By number. */
  private final Map<Integer, Place> places = new HashMap<>();

  /** By bucket, the highest sequence that a claim here has had: what is below may be settled. */
  private final long[] read = new long[Database.BUCKETS];

  /** The names of those that claim. */
  private final Set<String> workers = new HashSet<>();

  private Claim.@Nullable Request lastRequest;
  private long claimedAt;
  private int inARow;

  /** Whether the last claim that did without a look at all had what was handed over. */
  private boolean tookHanded;

  private final News news;

  /** Whether messages of this process could not be handed over since the last look. */
  private boolean isCrowded;

  private final RelayLoad load;

  /** Until when workers wait for the first attempt to show that the relay lives. */
  private long beginsUntil;

  private boolean isShown;
  private boolean closed;

  /** Where a bucket is. */
  private static final class Place {

    /** As it waits, or as a worker got it. */
    private HeldBucket one;

    /** The claim that has it; null: it waits. */
    private @Nullable Taken taken;

    /** False: to be given back as soon as its worker is done. */
    private boolean wanted = true;

    /** What was committed since a worker has it, and waits until it is back. */
    private List<Candidate> meanwhile = List.of();

    /** Whether the last read has left something. */
    private boolean hasMore;

    /** When it was leased; null once the holder has prolonged it. */
    private @Nullable Long leasedAt;

    Place(HeldBucket one, @Nullable Long leasedAt) {
      this.one = one;
      this.leasedAt = leasedAt;
    }

    Lease lease() {
      return one.lease();
    }

    /** Whether these may be handed over with it, and are from now on. */
    boolean beside(List<Candidate> messages, long[] read) {
      HeldBucket before = one;
      one = before.and(messages, read[one.bucket()]);
      return one != before;
    }

    boolean waits() {
      return taken == null;
    }

    void forgetHanded() {
      one = one.with(one.lease());
      meanwhile = List.of();
    }
  }

  /**
   * Where the messages of a transaction are.
   *
   * @param handed how many were handed over
   * @param noted how many others are in buckets that are held here
   * @param elsewhere the others' buckets, by sequence; without those of which that is not known
   */
  record Found(int handed, int noted, Map<Long, Integer> elsewhere) {
    int count() {
      return handed + noted + elsewhere.size();
    }
  }

  /**
   * What a claim works on: nobody else has these until they are back.
   *
   * @param all whether nothing more is known to wait elsewhere
   * @param durable sequences of messages in them whose commit has waited for the disk
   */
  record Taken(List<HeldBucket> ones, boolean all, Set<Long> durable) {
    List<Lease> leases() {
      return ones.stream().map(HeldBucket::lease).toList();
    }

    HeldBucket of(Lease lease) {
      return ones.stream()
          .filter(one -> one.bucket() == lease.bucket())
          .findFirst()
          .orElseThrow(() -> new IllegalStateException("a bucket that was not taken"));
    }
  }

  /**
   * @param unclaimed when no worker has claimed for so long, nothing is held
   */
  HeldBuckets(Duration unclaimed, LongSupplier clock) {
    this.unclaimed = unclaimed.toNanos();
    this.clock = clock;
    beginsUntil = clock.getAsLong();
    claimedAt = beginsUntil - this.unclaimed;
    load = new RelayLoad(clock);
    news = new News(clock);
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
    return !closed && (isShown || claimedAt - beginsUntil < 0 || waiting().findAny().isPresent());
  }

  /**
   * A worker's share of the buckets that have more, those first that have waited longest. When
   * there are none, or when it is the turn of the other buckets, it gets those whose messages were
   * handed over, or else those with news, or else all. For a short time it gets none while another
   * worker has what there was news of.
   */
  synchronized Taken take() {
    int more = (int) places.values().stream().filter(place -> place.hasMore).count();
    int share = (more + workers.size() - 1) / Math.max(1, workers.size());
    List<HeldBucket> some =
        inTurn(place -> place.hasMore).limit(Math.min(ENOUGH, Math.max(1, share))).toList();
    inARow = some.isEmpty() || inARow == MOST_IN_A_ROW ? 0 : inARow + 1;
    if (inARow > 0) {
      return toLookAt(some, waiting().count() == some.size());
    }
    if (news.mayBeFollowed()) {
      List<HeldBucket> handed = inTurn(place -> place.one.isHanded()).toList();
      List<HeldBucket> withNews = inTurn(place -> news.isOf(place.one.bucket())).toList();
      if (!handed.isEmpty() || !withNews.isEmpty()) {
        news.follow();
        tookHanded = withNews.isEmpty() || !handed.isEmpty() && !tookHanded;
        return tookHanded ? taken(handed, more == 0, Set.of()) : toLookAt(withNews, more == 0);
      }
      // Woken for what another worker has taken.
      if (some.isEmpty() && inHand().findAny().isPresent() && news.isFollowed()) {
        return taken(List.of(), more == 0, Set.of());
      }
    }
    news.lookAtAll(inHand().map(place -> place.one.bucket()).toList());
    List<HeldBucket> all = inTurn(place -> !place.hasMore || some.contains(place.one)).toList();
    return toLookAt(all, waiting().count() == all.size());
  }

  /** A look finds what was handed over, too. */
  private Taken toLookAt(List<HeldBucket> ones, boolean all) {
    isCrowded = false;
    Set<Long> durable = new HashSet<>();
    ones.forEach(one -> durable.addAll(news.lookAt(one.bucket())));
    return taken(ones.stream().map(one -> one.with(one.lease())).toList(), all, durable);
  }

  private Taken taken(List<HeldBucket> ones, boolean all, Set<Long> durable) {
    Taken taken = new Taken(ones, all, durable);
    ones.forEach(one -> requireNonNull(places.get(one.bucket())).taken = taken);
    return taken;
  }

  private Stream<Place> waiting() {
    return places.values().stream().filter(Place::waits);
  }

  private Stream<Place> inHand() {
    return places.values().stream().filter(place -> !place.waits());
  }

  private Stream<HeldBucket> inTurn(Predicate<Place> which) {
    return waiting()
        .filter(which)
        .map(place -> place.one)
        .sorted(Comparator.comparingLong(HeldBucket::servedAt).thenComparing(HeldBucket::bucket));
  }

  /**
   * Those of the leases whose messages were handed over, as many as a claim may have.
   *
   * @return empty when the claim has to look
   */
  List<HeldBucket> handed(Taken taken, Claim.Request request) {
    long now = clock.getAsLong();
    int count = 0;
    long bytes = 0;
    List<HeldBucket> chosen = new ArrayList<>();
    for (HeldBucket one : taken.ones) {
      int size = one.handed().stream().mapToInt(Claimable::payloadSize).sum();
      if (one.isHanded()
          && one.endsAt() - now >= request.lease().toNanos()
          && count + one.handed().size() <= request.maxMessages()
          && bytes + size <= request.maxBytes()) {
        chosen.add(one);
        count += one.handed().size();
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
        .anyMatch(one -> one.endsAt() - now < lease.toNanos() || one.lease().single());
  }

  /** A claim has found this. */
  synchronized void found(BatchReader.Batch batch, Claim.Request request) {
    for (Claimable row : batch.rows()) {
      read[row.bucket()] = Math.max(read[row.bucket()], row.sequence());
    }
    batch.leases().forEach(lease -> noteMore(batch, lease));
    batch.unused().forEach(release -> noteMore(batch, release.lease()));
    load.claimed(batch.rows().size(), request.maxMessages());
  }

  private void noteMore(BatchReader.Batch batch, Lease lease) {
    Place place = places.get(lease.bucket());
    if (place != null) {
      place.hasMore = batch.more().contains(lease.bucket());
    }
  }

  /** Whether more is known to wait somewhere. */
  synchronized boolean haveMore() {
    return places.values().stream().anyMatch(place -> place.hasMore) || haveNews();
  }

  /** Whether messages were committed that a claim would find now. */
  synchronized boolean haveNews() {
    return news.isAnywhere()
        || waiting().anyMatch(place -> place.one.isHanded() || news.isOf(place.one.bucket()));
  }

  /** There may be messages that nobody has told of: the next claim looks at all buckets. */
  synchronized void mustLook() {
    news.addAnything();
  }

  /**
   * Others have committed this: the next claim looks for what is of buckets that are held.
   *
   * @return whether a claim could find any now, and not only who settles the bucket's last claim
   */
  synchronized boolean heard(Announcement announcement) {
    if (announcement.isAnything()) {
      mustLook();
      return true;
    }
    Map<Long, Integer> here = new HashMap<>(announcement.buckets());
    here.values().removeIf(bucket -> !isHeld(bucket));
    here.forEach((sequence, bucket) -> news.add(bucket, Set.of(sequence)));
    return waiting().anyMatch(place -> here.containsValue(place.one.bucket()));
  }

  private boolean isHeld(int bucket) {
    Place place = places.get(bucket);
    return place != null && place.wanted;
  }

  /**
   * They wait for the next claim: those that have not been taken anew meanwhile, as a holder takes
   * what lasted no longer.
   *
   * @return those that are to be given back instead
   */
  synchronized List<Lease> back(Collection<HeldBucket> ones) {
    List<Lease> given = new ArrayList<>();
    for (HeldBucket one : ones) {
      Place place = inHand(one.lease());
      if (place == null) {
        continue;
      }
      if (place.wanted) {
        back(one, place);
      } else {
        forget(one.bucket());
        given.add(one.lease());
      }
    }
    return given;
  }

  /**
   * As {@link #back(Collection)}, where a claim has failed: those that it still has. It may have
   * brought others back already, and another worker may have them.
   */
  synchronized List<Lease> back(Taken failed) {
    return back(
        failed.ones.stream()
            .filter(
                one -> {
                  Place place = places.get(one.bucket());
                  return place != null && place.taken == failed;
                })
            .toList());
  }

  private @Nullable Place inHand(Lease lease) {
    Place place = places.get(lease.bucket());
    return place != null && !place.waits() && place.lease().token() == lease.token() ? place : null;
  }

  private void back(HeldBucket one, Place place) {
    List<Candidate> meanwhile = place.meanwhile;
    place.taken = null;
    place.meanwhile = List.of();
    place.one = one;
    if (!meanwhile.isEmpty() && !place.beside(meanwhile, read)) {
      news.add(one.bucket(), meanwhile.stream().map(message -> message.row().sequence()).toList());
    }
  }

  /** Whether a bucket is to be given back when it is settled. */
  synchronized boolean isUnwanted(Lease lease) {
    Place place = inHand(lease);
    return place != null && !place.wanted;
  }

  /** This was lost while a worker had it, or was given back where it was settled. */
  synchronized void ended(Lease lease) {
    if (inHand(lease) != null) {
      forget(lease.bucket());
    }
  }

  private void forget(int bucket) {
    places.remove(bucket);
    news.forget(bucket);
  }

  // ---- for who appends

  /**
   * The leases that messages could be handed over to, also of those that workers have. None while
   * there is so much that some could not be, and claims look in any case.
   */
  synchronized List<Lease> open() {
    return isCrowded || !isShown
        ? List.of()
        : places.values().stream().filter(place -> place.wanted).map(Place::lease).toList();
  }

  /**
   * Hands over what it can of a transaction that has committed, and remembers where the rest is.
   * What a worker has the lease of waits until that comes back.
   *
   * @param messages how many there are
   */
  synchronized Found committed(int messages, AppendReport report) {
    Set<Long> handed = new HashSet<>();
    report.candidates().stream()
        .collect(Collectors.groupingBy(message -> message.row().bucket()))
        .values()
        .stream()
        .filter(this::handOver)
        .flatMap(List::stream)
        .forEach(message -> handed.add(message.row().sequence()));
    Map<Long, Integer> noted = new HashMap<>(report.announcement().buckets());
    noted.keySet().removeAll(handed);
    Map<Long, Integer> elsewhere = new HashMap<>(noted);
    elsewhere.values().removeIf(this::isHeld);
    noted.keySet().removeAll(elsewhere.keySet());
    noted.forEach((sequence, bucket) -> news.add(bucket, Set.of(sequence)));
    isCrowded |= handed.size() + elsewhere.size() < messages;
    Found found = new Found(handed.size(), noted.size(), elsewhere);
    if (found.count() < messages) {
      mustLook();
    }
    return found;
  }

  /**
   * Messages of one bucket are put beside its lease, when that waits here or comes back. A bucket
   * has room for one append at a time.
   */
  private boolean handOver(List<Candidate> ofBucket) {
    Candidate first = ofBucket.get(0);
    Place place = places.get(first.row().bucket());
    if (place == null || !isShown || !first.claimId().equals(claimId)) {
      return false;
    }
    if (place.waits()) {
      return place.beside(ofBucket, read);
    }
    boolean hasRoom = place.meanwhile.isEmpty();
    if (hasRoom) {
      place.meanwhile = ofBucket;
    }
    return hasRoom;
  }

  // ---- for who holds

  /**
   * Others are about to see that this relay lives. Until they do, or cannot, its workers get
   * nothing, for {@link #BEGINS} at most: what they leased for themselves would be what another
   * relay is about to be given.
   */
  synchronized void beginning() {
    beginsUntil = clock.getAsLong() + BEGINS.toNanos();
  }

  /** Whether others see that this relay lives: only then it takes buckets, and hands over. */
  synchronized void shown(boolean toOthers) {
    beginsUntil = clock.getAsLong();
    isShown = toOthers;
    if (!toOthers) { // others may take the buckets, and a failover may have ended the history
      places.values().forEach(Place::forgetHanded);
      mustLook();
    }
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
      places.put(lease.bucket(), new Place(HeldBucket.until(asked, lease, asked), asked));
    }
    return List.of();
  }

  /**
   * Forgets what others have taken: also what a worker has that was never settled. To be called by
   * who takes.
   *
   * @param seen all that the relay may hold, as one look has them
   */
  synchronized void forgetLost(Collection<SeenBucket> seen) {
    for (SeenBucket one : seen) {
      Place place = places.get(one.bucket());
      if (place != null && place.lease().token() != one.token()) {
        forget(one.bucket());
      }
    }
  }

  /** Those that wait and last no longer than this, or were taken so long ago and not prolonged. */
  synchronized List<Lease> toProlong(Duration left, Duration since) {
    long now = clock.getAsLong();
    return waiting()
        .filter(
            place ->
                place.one.endsAt() - now <= left.toNanos()
                    || place.leasedAt != null && now - place.leasedAt >= since.toNanos())
        .map(Place::lease)
        .toList();
  }

  /**
   * These were prolonged. Of the others nothing is sure, as a worker may have had one meanwhile:
   * who claims next locks it.
   */
  synchronized void prolonged(
      long asked, Collection<Lease> leases, Set<Integer> held, Duration left) {
    for (Lease lease : leases) {
      Place place = places.get(lease.bucket());
      if (place != null && place.waits() && place.lease().token() == lease.token()) {
        boolean isHeld = held.contains(lease.bucket());
        place.leasedAt = isHeld ? null : place.leasedAt;
        Duration sure = isHeld ? left : Duration.ZERO;
        place.one = place.one.as(place.lease().lasts(sure), asked + sure.toNanos());
      }
    }
  }

  /** Changes what is remembered of one that waits. */
  synchronized void remember(int bucket, UnaryOperator<Lease> change) {
    Place place = places.get(bucket);
    if (place != null && place.waits()) {
      place.one = place.one.as(change.apply(place.lease()), place.one.endsAt());
    }
  }

  /**
   * Gives buckets away: those that a worker has, as soon as they are back.
   *
   * @return those that wait
   */
  synchronized List<Lease> give(Collection<Integer> buckets) {
    List<Lease> given = new ArrayList<>();
    for (int bucket : buckets) {
      Place place = places.get(bucket);
      if (place == null) {
        continue;
      }
      if (place.waits()) {
        given.add(place.lease());
        forget(bucket);
      } else {
        place.wanted = false;
      }
    }
    return given;
  }

  /** These may not have been given back: a claim locks them, and so sees whether they are held. */
  synchronized void keep(Collection<Lease> leases) {
    long now = clock.getAsLong();
    mustLook();
    leases.forEach(
        l ->
            places.putIfAbsent(
                l.bucket(), new Place(new HeldBucket(l, now, now, List.of()), null)));
  }

  /** All that wait, where no worker has claimed for too long. */
  synchronized List<Lease> giveUnclaimed() {
    return isUnclaimed() ? give(waiting().map(place -> place.one.bucket()).toList()) : List.of();
  }

  /** From now on nothing more is held; returns what waits. */
  synchronized List<Lease> close() {
    closed = true;
    return give(Set.copyOf(places.keySet()));
  }

  synchronized boolean isClosed() {
    return closed;
  }

  /** Whether nothing is held any more, and no worker has anything either. */
  synchronized boolean isOver() {
    return closed && places.isEmpty();
  }

  /** How busy the relay is, since this was asked last. */
  synchronized Load load() {
    if (places.isEmpty()) {
      load.claimed(0, 1); // no claim says it where there is nothing to claim
    }
    return load.now(lastRequest == null ? Integer.MAX_VALUE : lastRequest.maxMessages());
  }
}
