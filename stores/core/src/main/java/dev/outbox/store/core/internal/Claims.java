package dev.outbox.store.core.internal;

import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.core.internal.BatchReader.Batch;
import dev.outbox.store.core.internal.Database.Leases;
import dev.outbox.store.core.internal.Database.Look;
import dev.outbox.store.core.internal.Database.Release;
import dev.outbox.store.core.internal.Database.Writes;
import dev.outbox.store.core.internal.Kept.One;
import dev.outbox.store.core.internal.Row.Claimable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A claim's life, in three transactions: lease and read; settle and go on; settle and let go.
 * Publishing comes between them, after a commit and outside any transaction.
 *
 * <p>A key belongs to one of {@value Database#BUCKETS} buckets, by a hash. A worker leases buckets;
 * who holds a key's bucket holds the key.
 *
 * <ol>
 *   <li><b>lease and read</b>: lease free buckets that have work, longest unserved first; then, so
 *       that it is seen what was committed before the lease, read the first due messages of each
 *       ({@link BatchReader}); move what cannot be sent now out of the way; commit.
 *   <li><b>settle and go on</b>: lock the buckets that are still ours by claim id and token; apply
 *       the decisions to their messages ({@link Settlement}); keep the buckets that have more, give
 *       the others back; read the next batch from those that were kept and from others that are
 *       leased now; commit. For buckets that are not ours any more nothing happens, and the
 *       sequences of their messages are returned as lost.
 *   <li><b>settle and let go</b>: lock and apply in the same way; give all back; commit.
 * </ol>
 *
 * <p>A message that fails leaves PENDING and its key is recorded among the blocked keys. While that
 * record is there, a claim moves the key's messages to BLOCKED, so that they stand in nobody's way,
 * and takes them from there in order when the key's time has come. The head is always the lowest
 * BLOCKED sequence; nothing else says who is head. Only the holder of the bucket moves messages and
 * removes blocked keys.
 */
final class Claims<H> {

  /**
   * How long a bucket is kept from batch to batch before others may have it. Leasing it anew costs
   * about as much as a batch, so keeping it for some tens of batches is enough.
   */
  private static final Duration KEEPS = Duration.ofMillis(100);

  /** How long a claim leases again and again while it finds nothing but there may be more. */
  private static final Duration LEASES_AGAIN = Duration.ofMillis(100);

  /** How long a claim moves messages aside before it says so to its caller. */
  private static final Duration MOVES = Duration.ofMillis(100);

  /** How long the database waits for a client that gives back what was kept. */
  private static final Duration LETS_GO = Duration.ofSeconds(5);

  /** A lease that is kept is prolonged by this part more, so that not each batch must do it. */
  private static final int SLACK_PART = 4;

  private final Database<H> database;
  private final Leases<H> leases;
  private final Transactions<H> transactions;
  private final LongSupplier clock;

  /**
   * @param clock as {@link System#nanoTime}
   */
  Claims(Database<H> database, Transactions<H> transactions, LongSupplier clock) {
    this.database = database;
    this.leases = database.leases();
    this.transactions = transactions;
    this.clock = clock;
  }

  /** What a worker holds, and what it does with it. */
  private static final class Held<H> implements Claim {
    private final Claims<H> claims;
    private final Kept kept;
    private final UUID claimId;
    private final Batch batch;
    private final List<StoredMessage> messages;

    /** This claim's own, until it is closed or handed on. */
    private Transactions<H> transactions;

    private Duration lease;
    private boolean over;

    Held(
        Claims<H> claims,
        Kept kept,
        UUID claimId,
        Batch batch,
        Transactions<H> transactions,
        Duration lease) {
      this.claims = claims;
      this.kept = kept;
      this.claimId = claimId;
      this.batch = batch;
      this.transactions = transactions;
      this.lease = lease;
      kept.read(batch.rows());
      List<StoredMessage> all = new ArrayList<>(batch.rows().size());
      for (Claimable row : batch.rows()) {
        all.add(row.message());
      }
      messages = Collections.unmodifiableList(all);
    }

    @Override
    public List<StoredMessage> messages() {
      return messages;
    }

    @Override
    public boolean pollAgain() {
      return batch.pollAgain();
    }

    @Override
    public Set<Long> renew(Duration newLease) {
      lease = newLease;
      return over || isEmpty() ? Set.of() : sequences(claims.renew(this)::contains);
    }

    @Override
    public Set<Long> settle(Map<Long, Decision> decisions) {
      Decided decided = new Decided(batch.rows(), decisions);
      return batch.leases().isEmpty() ? Set.of() : lostBut(held(decided));
    }

    /** The buckets may be leased on under the same claim id, by the claim that came after it. */
    private Set<Integer> held(Decided decided) {
      return over ? Set.of() : claims.settleAndLetGo(this, decided);
    }

    /**
     * @param buckets those of this claim that are still ours
     */
    Set<Long> lostBut(Set<Integer> buckets) {
      return buckets.size() == batch.leases().size()
          ? Set.of()
          : sequences(bucket -> !buckets.contains(bucket));
    }

    private Set<Long> sequences(Predicate<Integer> ofBucket) {
      return batch.rows().stream()
          .filter(row -> ofBucket.test(row.bucket()))
          .map(Row::sequence)
          .collect(Collectors.toUnmodifiableSet());
    }

    boolean isEmpty() {
      return batch.rows().isEmpty();
    }

    /** From now on settling finds that everything was lost. */
    void over() {
      over = true;
    }

    /** It holds nothing any more. A settle that is repeated finds so in {@code others}. */
    void end(Transactions<H> others) {
      if (transactions != others) {
        transactions.close();
        transactions = others;
      }
    }
  }

  // ---- lease and read

  Claim claim(Claim.Request request, Kept kept) {
    List<One> taken = kept.take();
    if (taken.isEmpty()) {
      return leaseAndRead(request, kept);
    }
    List<One> handed = kept.handed(taken, request);
    if (!handed.isEmpty()) {
      return handedOver(handed, taken, request, kept);
    }
    Optional<Looked> looked =
        kept.wantCloseLook(taken, request.lease()) ? Optional.empty() : look(taken, request, kept);
    if (looked.isEmpty()) {
      return lookClosely(taken, request, kept);
    }
    Batch batch = looked.get().batch();
    boolean elsewhere = looked.get().look().elsewhere() || kept.leasesNowAndThen();
    return batch.rows().isEmpty() && elsewhere
        ? leaseAndRead(request, kept)
        : pastMoves(
            new Held<>(this, kept, kept.claimId(), batch, transactions.forClaim(), request.lease()),
            request);
  }

  /**
   * Messages that were handed over, without asking the database: their leases last for long enough,
   * and each was alone in its bucket when it was appended (C9).
   */
  private Held<H> handedOver(List<One> handed, List<One> taken, Claim.Request request, Kept kept) {
    kept.add(taken.stream().filter(one -> !handed.contains(one)).toList());
    List<Claimable> rows =
        handed.stream()
            .flatMap(one -> one.handed().stream())
            .sorted(Comparator.comparingLong(Claimable::sequence))
            .toList();
    leases.handedOver(rows);
    Batch batch = new Batch(leases(handed), List.of(), rows, Set.of(), true, false);
    return new Held<>(this, kept, kept.claimId(), batch, transactions.forClaim(), request.lease());
  }

  /** Until there is something, or nothing more. */
  private Held<H> leaseAndRead(Claim.Request request, Kept kept) {
    long began = clock.getAsLong();
    Held<H> claim = leaseOnce(request, kept);
    while (claim.isEmpty() && claim.pollAgain() && !isOver(LEASES_AGAIN, began)) {
      claim = leaseOnce(request, kept);
    }
    return claim;
  }

  private Held<H> leaseOnce(Claim.Request request, Kept kept) {
    UUID claimId = kept.claimId();
    Transactions<H> own = transactions.forClaim();
    try {
      return pastMoves(
          own.run(
              request.lease(),
              handle -> fill(handle, own, kept, claimId, List.of(), true, request)),
          request);
    } catch (RuntimeException | Error e) {
      own.abandon();
      throw e;
    }
  }

  /** Reads the next batch from the buckets that were kept, and from others while there is room. */
  private Held<H> fill(
      H handle,
      Transactions<H> own,
      Kept kept,
      UUID claimId,
      List<Lease> held,
      boolean leasesMore,
      Claim.Request request) {
    BatchReader<H> reader = new BatchReader<>(handle, database, claimId, request, kept.keeps());
    reader.read(prolong(handle, claimId, held, request.lease()));
    int most = Math.min(leases.mostBuckets() - reader.used(), reader.roomForBuckets());
    if (leasesMore && reader.hasRoom() && most > 0) {
      kept.leases();
      reader.read(leases.lease(handle, claimId, kept.keeps() ? withSlack(request) : request, most));
    }
    return new Held<>(this, kept, claimId, reader.choose(!leasesMore), own, request.lease());
  }

  /** Kept leases must last for a claim when they are looked at. */
  private static Claim.Request withSlack(Claim.Request request) {
    return new Claim.Request(
        request.worker(), request.maxMessages(), request.maxBytes(), withSlack(request.lease()));
  }

  private static Duration withSlack(Duration lease) {
    return lease.plus(lease.dividedBy(SLACK_PART));
  }

  /**
   * Messages that must wait may stand in front of others: moves them aside, lease by lease. What it
   * returns has messages, or has ended.
   */
  private Held<H> pastMoves(Held<H> claim, Claim.Request request) {
    long began = clock.getAsLong();
    Held<H> current = claim;
    while (current.isEmpty() && !current.batch.leases().isEmpty()) {
      if (isOver(MOVES, began)) {
        Set<Integer> ignored = settleAndLetGo(current, nothing(current));
        current.over();
        return current;
      }
      current = goOn(current, nothing(current), request).next();
    }
    if (current.isEmpty()) {
      current.end(transactions);
    }
    return current;
  }

  private static Decided nothing(Held<?> claim) {
    return new Decided(claim.batch.rows(), Map.of());
  }

  private boolean isOver(Duration time, long began) {
    return clock.getAsLong() - began > time.toNanos();
  }

  // ---- look at what was kept

  /**
   * Reads without locking anything, and takes no lease: those that were kept are durable and last
   * for long enough.
   */
  private Optional<Looked> look(List<One> taken, Claim.Request request, Kept kept) {
    Optional<Looked> looked;
    try {
      looked = lookAlone(taken, request, kept);
    } catch (RuntimeException | Error e) {
      kept.add(taken);
      throw e;
    }
    Map<Integer, One> ones = byBucket(taken);
    looked.ifPresent(
        found ->
            kept.add(
                found.batch().idle().stream()
                    .map(lease -> requireNonNull(ones.get(lease.bucket())).with(lease))
                    .toList()));
    return looked;
  }

  private record Looked(Batch batch, Look look) {
    boolean mayBePublished() {
      return look.durable() || batch.rows().isEmpty();
    }
  }

  /** In a transaction when what is found may not be durable: the last look says so of the next. */
  private Optional<Looked> lookAlone(List<One> taken, Claim.Request request, Kept kept) {
    if (kept.isDurable()) {
      Optional<Looked> looked =
          transactions
              .forClaim()
              .runSingle(request.lease(), handle -> lookOnce(handle, taken, request, kept));
      if (looked.isEmpty() || looked.get().mayBePublished()) {
        return looked;
      }
    }
    return lookDurably(taken, request, kept);
  }

  private Optional<Looked> lookOnce(H handle, List<One> taken, Claim.Request request, Kept kept) {
    BatchReader<H> reader = new BatchReader<>(handle, database, kept.claimId(), request, true);
    Optional<Looked> looked =
        reader.look(leases(taken)).map(look -> new Looked(reader.choose(look.elsewhere()), look));
    looked.ifPresent(found -> kept.durable(found.mayBePublished()));
    if (reader.cannotLook()) {
      kept.close();
    }
    return looked;
  }

  /**
   * A look writes nothing, so its commit waits for no disk. Prolonging the leases in its
   * transaction makes it wait, for all that the look has read (A1).
   */
  private Optional<Looked> lookDurably(List<One> taken, Claim.Request request, Kept kept) {
    return transactions
        .forClaim()
        .run(
            request.lease(),
            handle ->
                lookOnce(handle, taken, request, kept)
                    .filter(
                        found ->
                            found.mayBePublished()
                                || makeDurable(handle, found.batch(), request, kept)));
  }

  /** Returns false when a lease was lost meanwhile. */
  private boolean makeDurable(H handle, Batch batch, Claim.Request request, Kept kept) {
    Duration left = withSlack(request.lease());
    return leases.renew(handle, kept.claimId(), batch.leases(), left).size()
        == batch.leases().size();
  }

  private static List<Lease> leases(List<One> taken) {
    return taken.stream().map(One::lease).toList();
  }

  /**
   * Locks what was kept, prolongs it, gives back what was not used for long, reads whatever is due
   * there, and leases others; but nothing where all was given back, so that others see it free.
   */
  private Held<H> lookClosely(List<One> taken, Claim.Request request, Kept kept) {
    long began = clock.getAsLong();
    Map<Integer, One> ones = byBucket(taken);
    Transactions<H> own = transactions.forClaim();
    Held<H> claim;
    try {
      claim =
          own.run(
              request.lease(),
              handle -> {
                List<Lease> held = leases.lockHeld(handle, kept.claimId(), leases(taken));
                boolean all = kept.givesAllBack();
                List<Lease> over =
                    held.stream()
                        .filter(
                            lease -> all || kept.isOver(requireNonNull(ones.get(lease.bucket()))))
                        .toList();
                release(handle, kept.claimId(), over);
                List<Lease> rest = held.stream().filter(lease -> !over.contains(lease)).toList();
                Held<H> found = fill(handle, own, kept, kept.claimId(), rest, !all, request);
                if (over.isEmpty() && !found.isEmpty()) {
                  boolean ignored = makeDurable(handle, found.batch, request, kept);
                }
                return found;
              });
    } catch (RuntimeException | Error e) {
      own.abandon();
      kept.add(taken);
      throw e;
    }
    kept.add(
        claim.batch.idle().stream()
            .map(
                lease -> One.until(began, lease, requireNonNull(ones.get(lease.bucket())).usedAt()))
            .toList());
    return pastMoves(claim, request);
  }

  private static Map<Integer, One> byBucket(List<One> taken) {
    return taken.stream().collect(Collectors.toMap(One::bucket, one -> one));
  }

  /** Gives back all that waits for a next claim. */
  void letGo(Kept kept) {
    kept.close();
    giveBack(kept, kept.take());
  }

  /** Gives back what no worker has asked for. */
  void giveBackUnused(Kept kept) {
    giveBack(kept, kept.takeUnused());
  }

  private void giveBack(Kept kept, List<One> taken) {
    if (!taken.isEmpty()) {
      giveBack(kept.claimId(), leases(taken));
    }
  }

  private void giveBack(UUID claimId, List<Lease> unused) {
    boolean ignored =
        transactions
            .forClaim()
            .run(
                LETS_GO,
                handle -> {
                  release(handle, claimId, leases.lockHeld(handle, claimId, unused));
                  return true;
                });
  }

  private void release(H handle, UUID claimId, List<Lease> unused) {
    if (!unused.isEmpty()) {
      leases.release(
          handle, claimId, unused.stream().map(l -> new Release(l, 0, true, false)).toList());
    }
  }

  // ---- settle and go on

  /** Empty where the claim is not one of those for whom this is kept, or is over. */
  Optional<Settled> settleAndClaim(
      Kept kept, Claim done, Map<Long, Decision> decisions, Claim.Request request) {
    if (!(done instanceof Held<?> held) || held.claims != this || held.kept != kept || held.over) {
      return Optional.empty();
    }
    @SuppressWarnings("unchecked") // these claims' own have their handle
    Held<H> own = (Held<H>) held;
    Step<H> step = goOn(own, new Decided(own.batch.rows(), decisions), request);
    Held<H> next = pastMoves(step.next(), request);
    own.over();
    if (next.batch.leases().isEmpty() && !leases.leasesInTransaction()) {
      next = claimOr(next, request);
    }
    return Optional.of(new Settled(own.lostBut(step.held()), next));
  }

  /** What is settled is settled, also when the claim fails: the next one meets the error again. */
  private Held<H> claimOr(Held<H> none, Claim.Request request) {
    try {
      return leaseAndRead(request, none.kept);
    } catch (OutboxException e) {
      return none;
    }
  }

  /**
   * What settling and going on came to.
   *
   * @param held the buckets that were still ours
   * @param idle leases that are kept, though their buckets have no more messages
   */
  private record Step<H>(Set<Integer> held, List<Lease> idle, Held<H> next) {}

  private Step<H> goOn(Held<H> done, Decided decided, Claim.Request request) {
    long began = clock.getAsLong();
    Step<H> step =
        isSmall(done, decided)
            ? settleAtOnce(done, decided, request)
            : done.transactions.run(
                request.lease(), handle -> goOn(handle, done, decided, request));
    List<Lease> idle = new ArrayList<>(step.idle());
    idle.addAll(step.next().batch.idle());
    done.kept.add(idle.stream().map(lease -> One.until(began, lease, clock.getAsLong())).toList());
    return step;
  }

  /** Whether one statement settles it: all was delivered, and all its buckets are to be kept. */
  private boolean isSmall(Held<H> done, Decided decided) {
    Batch batch = done.batch;
    return !batch.rows().isEmpty()
        && batch.rows().size() <= leases.mostDeletedWithLock()
        && batch.more().isEmpty()
        && batch.leases().stream()
            .allMatch(
                lease ->
                    !lease.single()
                        && decided.areDelivered(lease.bucket())
                        && done.kept.wouldKeep(lease.bucket()));
  }

  /** What else is due in a bucket is found by whoever leases it next. */
  private Step<H> settleAtOnce(Held<H> done, Decided decided, Claim.Request request) {
    List<Lease> held =
        done.transactions.runSingle(
            request.lease(),
            handle ->
                leases.lockHeldAndDelete(
                    handle, done.claimId, done.batch.leases(), answered(decided)));
    List<Lease> idle = idle(held, List.of(), done, decided);
    List<Lease> others = held.stream().filter(lease -> !idle.contains(lease)).toList();
    if (!others.isEmpty()) {
      giveBack(done.claimId, others);
    }
    return new Step<>(
        held.stream().map(Lease::bucket).collect(Collectors.toSet()),
        idle,
        unread(done, others, request));
  }

  private List<Claimable> answered(Decided decided) {
    Writes<H> writes = database.writes();
    List<Claimable> rows = decided.rows();
    return writes.archives()
        ? IntStream.range(0, rows.size())
            .mapToObj(i -> Settlement.delivered(writes, rows.get(i), decided.of(i)))
            .toList()
        : rows;
  }

  /**
   * @param others the leases that were given back
   */
  private Held<H> unread(Held<H> done, List<Lease> others, Claim.Request request) {
    boolean moreIsDue =
        others.stream()
            .anyMatch(
                lease ->
                    lease.scheduled()
                        || lease.blocked()
                        || done.batch.more().contains(lease.bucket()));
    return new Held<>(
        this,
        done.kept,
        done.claimId,
        done.batch.unread(moreIsDue),
        done.transactions,
        request.lease());
  }

  /** While leases are kept the next claim looks there first, and mostly needs no other. */
  private Step<H> goOn(H handle, Held<H> done, Decided decided, Claim.Request request) {
    Map<Integer, Lease> held = settle(handle, done, decided);
    List<Lease> wanted = wanted(held.values(), done.batch, decided);
    List<Lease> used = used(wanted);
    List<Lease> idle = idle(held.values(), wanted, done, decided);
    List<Lease> others = new ArrayList<>(held.values());
    others.removeAll(used);
    others.removeAll(idle);
    release(handle, done, decided, others);
    if (used.isEmpty() && !idle.isEmpty()) {
      return new Step<>(held.keySet(), idle, unread(done, others, request));
    }
    UUID claimId = used.isEmpty() ? done.kept.claimId() : done.claimId;
    boolean leasesMore =
        leases.leasesInTransaction() && (used.isEmpty() || used.size() == wanted.size());
    List<Lease> next = decided.isEmpty() ? extend(handle, claimId, used, request.lease()) : used;
    return new Step<>(
        held.keySet(),
        idle,
        fill(handle, done.transactions, done.kept, claimId, next, leasesMore, request));
  }

  /**
   * The leases that are kept though nothing more was found: of buckets whose messages were all
   * delivered, and where nothing else is due.
   */
  private static <H> List<Lease> idle(
      Collection<Lease> held, List<Lease> wanted, Held<H> done, Decided decided) {
    if (!done.kept.keeps()) {
      return List.of();
    }
    return held.stream()
        .filter(lease -> !wanted.contains(lease) && decided.areDelivered(lease.bucket()))
        .filter(lease -> !lease.single() && !lease.scheduled() && !lease.blocked())
        .filter(lease -> done.kept.served(lease.bucket()))
        .toList();
  }

  /**
   * The leases that are of use for the next batch: of buckets that have more. Not of buckets with
   * messages that have no decision, and not of those whose messages are handed out singly, because
   * a settle that is repeated would take back an attempt twice.
   */
  private static List<Lease> wanted(Collection<Lease> held, Batch done, Decided decided) {
    return held.stream()
        .filter(lease -> done.more().contains(lease.bucket()))
        .filter(lease -> !lease.single() && decided.areDecided(lease.bucket()))
        .toList();
  }

  /**
   * Without half of those that were held for long enough. While there is a rest to be busy with,
   * nothing is leased in the transaction that gives them up, so that others see them free: else a
   * worker that comes later would never get any.
   */
  private List<Lease> used(List<Lease> wanted) {
    long now = clock.getAsLong();
    List<Lease> old =
        wanted.stream().filter(lease -> now - lease.since() >= KEEPS.toNanos()).toList();
    List<Lease> used = new ArrayList<>(wanted);
    used.removeAll(old.subList(0, (old.size() + 1) / 2));
    return used;
  }

  private List<Lease> prolong(H handle, UUID claimId, List<Lease> held, Duration lease) {
    boolean needed = held.stream().anyMatch(l -> l.left().compareTo(lease) < 0);
    return needed ? extend(handle, claimId, held, lease) : held;
  }

  /**
   * Prolongs leases. A transaction in which nothing else was written needs it too: a commit that
   * writes nothing does not wait for the disk, and what it has read may not be durable yet (A1).
   */
  private List<Lease> extend(H handle, UUID claimId, List<Lease> held, Duration lease) {
    if (held.isEmpty()) {
      return held;
    }
    Duration left = withSlack(lease);
    Set<Integer> ignored = leases.renew(handle, claimId, held, left);
    return held.stream().map(l -> l.lasts(left)).toList();
  }

  // ---- settle and let go

  /** Returns the buckets that were still ours. */
  private Set<Integer> settleAndLetGo(Held<H> done, Decided decided) {
    Set<Integer> held =
        done.transactions.run(
            done.lease,
            handle -> {
              Map<Integer, Lease> now = settle(handle, done, decided);
              release(handle, done, decided, now.values());
              return now.keySet();
            });
    done.end(transactions);
    return held;
  }

  // ---- in both

  /**
   * Locks the buckets that are still ours, and carries the decisions out for their messages.
   * Returns their leases as they stand now.
   */
  private Map<Integer, Lease> settle(H handle, Held<H> done, Decided decided) {
    List<Lease> locked = leases.lockHeld(handle, done.claimId, done.batch.leases());
    Set<Integer> counted =
        done.batch.leases().stream()
            .filter(Lease::single)
            .map(Lease::bucket)
            .collect(Collectors.toSet());
    Map<Integer, Lease> held = new HashMap<>();
    new Settlement<>(handle, database.writes(), counted)
        .apply(locked, decided)
        .forEach(lease -> held.put(lease.bucket(), lease));
    return held;
  }

  private void release(H handle, Held<H> done, Decided decided, Collection<Lease> released) {
    if (released.isEmpty()) {
      return;
    }
    leases.release(
        handle,
        done.claimId,
        released.stream()
            .map(l -> new Release(l, decided.decided(l.bucket()), true, false))
            .toList());
  }

  // ---- meanwhile

  /** Returns the buckets that are still ours. */
  private Set<Integer> renew(Held<H> claim) {
    return claim.transactions.run(
        claim.lease,
        handle -> leases.renew(handle, claim.claimId, claim.batch.leases(), claim.lease));
  }
}
