package dev.outbox.store.core.internal;

import static java.util.stream.Collectors.toSet;

import dev.outbox.OutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.store.core.internal.BatchReader.Batch;
import dev.outbox.store.core.internal.Database.Leases;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Look;
import dev.outbox.store.core.internal.Database.Release;
import dev.outbox.store.core.internal.Database.Writes;
import dev.outbox.store.core.internal.HeldBuckets.Taken;
import dev.outbox.store.core.internal.Row.Claimable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * Delivering from buckets that a relay holds: look, and settle, as docs/design/holding.md says.
 * Neither leases nor gives back; that is the {@link Holder}'s. What an append has handed over is
 * claimed without a look (C9).
 */
final class HeldClaims<H> {

  /** How long the database waits for a client that gives buckets back. */
  private static final Duration LETS_GO = Duration.ofSeconds(5);

  private final Database<H> database;
  private final Leases<H> leases;
  private final Transactions<H> transactions;
  private final HeldBuckets held;
  private final UUID claimId;
  private final LongSupplier clock;

  /** Whether the database has no looks: then claims stand for themselves. */
  private volatile boolean cannotLook;

  /** Whether a bucket is free that was handed out singly, and has more. */
  private final AtomicBoolean letGo = new AtomicBoolean();

  /** Whether what the last look brought was durable: what the next one brings mostly is, too. */
  private volatile boolean durable = true;

  HeldClaims(
      Database<H> database, Transactions<H> transactions, HeldBuckets held, LongSupplier clock) {
    this.database = database;
    this.leases = database.leases();
    this.transactions = transactions.forClaim();
    this.held = held;
    this.claimId = held.claimId();
    this.clock = clock;
  }

  private static final class OfHeld extends LeasedBatch {
    private final HeldClaims<?> claims;

    OfHeld(HeldClaims<?> claims, Batch batch, Duration lease) {
      super(claims.claimId, batch, lease);
      this.claims = claims;
    }

    @Override
    Set<Integer> settled(DecidedMessages decided) {
      return claims.settle(this, decided);
    }

    @Override
    Set<Integer> renewed() {
      return claims.renew(this);
    }
  }

  // ---- claim

  /** Messages that must wait may stand in front of others: reads again when it has moved some. */
  Claim claim(Claim.Request request) {
    long began = clock.getAsLong();
    OfHeld claim;
    do {
      claim = claimOnce(request);
    } while (claim.isEmpty()
        && claim.pollAgain()
        && clock.getAsLong() - began <= Claims.MOVES.toNanos());
    return claim;
  }

  private OfHeld claimOnce(Claim.Request request) {
    Taken taken = held.take();
    if (taken.ones().isEmpty()) {
      return nothing(request);
    }
    try {
      List<HeldBucket> handed = held.handed(taken, request);
      if (!handed.isEmpty()) {
        giveBackLater(
            held.back(taken.ones().stream().filter(one -> !handed.contains(one)).toList()));
        return new OfHeld(this, handedOver(handed, request).and(held.haveNews()), request.lease());
      }
      Optional<Batch> looked =
          held.mustBeLocked(taken, request.lease()) ? Optional.empty() : look(taken, request);
      if (cannotLook) {
        close();
      }
      Batch batch =
          looked.isPresent()
              ? backUnused(looked.get(), taken, request)
              : lockAndRead(taken, request);
      return new OfHeld(this, batch.and(held.haveNews()), request.lease());
    } catch (RuntimeException | Error e) {
      held.mustLook();
      giveBackLater(held.back(taken));
      throw e;
    }
  }

  /**
   * Messages that were handed over, without asking the database: their leases last for long enough,
   * and each was alone in its bucket when it was appended (C9).
   */
  private Batch handedOver(List<HeldBucket> handed, Claim.Request request) {
    List<Claimable> rows =
        handed.stream()
            .flatMap(one -> one.handed().stream())
            .sorted(Comparator.comparingLong(Claimable::sequence))
            .toList();
    Batch batch =
        new Batch(
            handed.stream().map(HeldBucket::lease).toList(), List.of(), rows, Set.of(), false);
    held.found(batch, request);
    return batch;
  }

  /** The buckets that brought nothing wait for the next claim. */
  private Batch backUnused(Batch batch, Taken taken, Claim.Request request) {
    held.found(batch, request);
    giveBackLater(
        held.back(
            batch.unused().stream()
                .map(Release::lease)
                .map(lease -> taken.of(lease).with(lease))
                .toList()));
    return batch;
  }

  // ---- look

  /** In a transaction when what is found may not be durable: the last look says so of the next. */
  private Optional<Batch> look(Taken taken, Claim.Request request) {
    if (durable) {
      Optional<Looked> looked =
          transactions.runSingle(request.lease(), handle -> lookOnce(handle, taken, request));
      if (looked.isEmpty() || looked.get().mayBePublished()) {
        return looked.map(Looked::batch);
      }
    }
    return lookDurably(taken, request);
  }

  private record Looked(Batch batch, boolean durable) {
    boolean mayBePublished() {
      return durable || batch.rows().isEmpty();
    }
  }

  private Optional<Looked> lookOnce(H handle, Taken taken, Claim.Request request) {
    BatchReader<H> reader = new BatchReader<>(handle, database, request);
    Limits limits = reader.limits(taken.leases());
    Optional<Look> look =
        database.reads().look(handle, claimId, taken.leases(), limits, taken.durable());
    if (look.isEmpty()) {
      cannotLook = true;
    }
    Optional<Looked> looked =
        look.filter(found -> reader.take(found, limits))
            .map(found -> new Looked(reader.choose(!taken.all()), found.durable()));
    looked.ifPresent(found -> durable = found.mayBePublished());
    return looked;
  }

  /**
   * A look writes nothing, so its commit waits for no disk. What is written in its transaction
   * makes it wait, for all that the look has read (A1).
   */
  private Optional<Batch> lookDurably(Taken taken, Claim.Request request) {
    return transactions.run(
        request.lease(),
        handle ->
            lookOnce(handle, taken, request)
                .filter(
                    found ->
                        found.mayBePublished()
                            || makeDurable(handle, found.batch().leases(), request))
                .map(Looked::batch));
  }

  /** Returns false when a lease was lost meanwhile. */
  private boolean makeDurable(H handle, List<Lease> read, Claim.Request request) {
    return leases.makeDurable(handle, claimId, read, Claims.withSlack(request.lease()));
  }

  // ---- lock and read

  /** Whatever is due, in leases that last for long enough then. */
  private Batch lockAndRead(Taken taken, Claim.Request request) {
    long began = clock.getAsLong();
    Batch batch =
        transactions.run(
            request.lease(),
            handle -> {
              List<Lease> ours = inTurn(leases.lockHeld(handle, claimId, taken.leases()), taken);
              BatchReader<H> reader = new BatchReader<>(handle, database, request);
              boolean shorter = Claims.endBefore(ours, request.lease());
              if (shorter) {
                ours = Claims.extend(handle, leases, claimId, ours, request.lease());
              }
              reader.read(ours);
              Batch found = reader.choose(!taken.all());
              if (!shorter && !found.rows().isEmpty()) {
                boolean ignored = makeDurable(handle, found.leases(), request);
              }
              return found;
            });
    held.found(batch, request);
    List<HeldBucket> back = new ArrayList<>();
    batch.unused().forEach(unused -> back.add(until(began, unused.lease(), taken)));
    if (batch.rows().isEmpty()) { // from some of them messages were moved
      batch.leases().forEach(lease -> back.add(until(began, lease, taken)));
    }
    forgetBut(batch, taken);
    giveBackLater(held.back(back));
    return batch.rows().isEmpty() ? Batch.empty(batch.pollAgain()) : batch;
  }

  private static List<Lease> inTurn(List<Lease> locked, Taken taken) {
    List<Integer> turns = taken.ones().stream().map(HeldBucket::bucket).toList();
    return locked.stream()
        .sorted(Comparator.comparingInt(lease -> turns.indexOf(lease.bucket())))
        .toList();
  }

  private static HeldBucket until(long began, Lease lease, Taken taken) {
    return HeldBucket.until(began, lease, taken.of(lease).servedAt());
  }

  private void forgetBut(Batch batch, Taken taken) {
    Set<Integer> ours = batch.leases().stream().map(Lease::bucket).collect(toSet());
    batch.unused().forEach(unused -> ours.add(unused.lease().bucket()));
    taken.leases().stream().filter(l -> !ours.contains(l.bucket())).forEach(held::ended);
  }

  // ---- settle

  /** Whether a settle since the last call gave back what somebody should take again at once. */
  boolean hasLetGo() {
    return letGo.getAndSet(false);
  }

  /** Empty where the claim is not one of these, or is over. */
  Optional<Settled> settleAndClaim(
      Claim done, Map<Long, Decision> decisions, Claim.Request request) {
    if (!(done instanceof OfHeld own) || own.claims != this || own.isOver()) {
      return Optional.empty();
    }
    Set<Long> lost = own.settle(decisions);
    // While nothing says that there is more, what comes next is found by the next claim.
    boolean goesOn = held.haveMore() && held.claims(request);
    return Optional.of(new Settled(lost, goesOn ? claimOrNothing(request) : nothing(request)));
  }

  /** After a settle: what is settled is settled, also when the claim fails. */
  Claim claimOrNothing(Claim.Request request) {
    try {
      return claim(request);
    } catch (OutboxException e) { // the next claim meets it again
      return nothing(request);
    }
  }

  private OfHeld nothing(Claim.Request request) {
    return new OfHeld(this, Batch.empty(false), request.lease());
  }

  /** Returns the buckets that were still ours. */
  private Set<Integer> settle(OfHeld done, DecidedMessages decided) {
    long began = clock.getAsLong();
    List<Lease> released = new ArrayList<>();
    Collection<Lease> locked =
        isSmall(done, decided)
            ? transactions.runSingle(
                done.lease(),
                handle ->
                    leases.lockHeldAndDelete(
                        handle, claimId, done.batch.leases(), answered(decided)))
            : transactions.run(
                done.lease(),
                handle -> {
                  Settlement<H> settlement = new Settlement<>(handle, database, claimId, decided);
                  Collection<Lease> now = settlement.of(done.batch.leases()).values();
                  released.clear();
                  now.stream().filter(this::isToRelease).forEach(released::add);
                  settlement.release(released);
                  return now;
                });
    done.over();
    released.forEach(held::ended);
    if (released.stream().anyMatch(Lease::single)) {
      letGo.set(true);
    }
    if (done.batch.leases().stream().anyMatch(l -> !decided.areDelivered(l.bucket()))) {
      held.mustLook(); // what was given back may be claimed at once (S3)
    }
    Set<Integer> ours = locked.stream().map(Lease::bucket).collect(toSet());
    done.batch.leases().stream().filter(l -> !ours.contains(l.bucket())).forEach(held::ended);
    giveBackLater(
        held.back(
            locked.stream()
                .filter(lease -> !released.contains(lease))
                .map(lease -> HeldBucket.until(began, lease, clock.getAsLong()))
                .toList()));
    return ours;
  }

  /**
   * What is handed out singly goes through the lease's end, which forgets that its holders did not
   * come back (S6); and a settle that is repeated would take back an attempt twice.
   */
  private boolean isToRelease(Lease lease) {
    return lease.single() || held.isUnwanted(lease);
  }

  /** Whether one statement settles it: all was delivered, and all its buckets are held on. */
  private boolean isSmall(OfHeld done, DecidedMessages decided) {
    Batch batch = done.batch;
    return !batch.rows().isEmpty()
        && batch.rows().size() <= leases.mostDeletedWithLock()
        && batch.leases().stream()
            .allMatch(lease -> decided.areDelivered(lease.bucket()) && !isToRelease(lease));
  }

  private List<Claimable> answered(DecidedMessages decided) {
    Writes<H> writes = database.writes();
    List<Claimable> rows = decided.rows();
    return IntStream.range(0, rows.size())
        .mapToObj(i -> Settlement.delivered(writes, rows.get(i), decided.of(i)))
        .toList();
  }

  /** Returns the buckets that are still ours. */
  private Set<Integer> renew(OfHeld claim) {
    return transactions.run(
        claim.lease(),
        handle -> leases.renew(handle, claimId, claim.batch.leases(), claim.lease()));
  }

  // ---- give back

  /** Gives back what is held; what workers have, they give back when they settle. */
  void close() {
    giveBack(transactions, held.close());
  }

  /** Gives back what no worker has asked for. */
  void giveBackUnclaimed() {
    giveBack(transactions, held.giveUnclaimed());
  }

  /** What could not be given back is held on, or its key would stand still until the lease ends. */
  void giveBack(Transactions<H> by, Collection<Lease> given) {
    if (given.isEmpty()) {
      return;
    }
    try {
      by.execute(
          LETS_GO,
          handle ->
              new Settlement<>(handle, database, claimId, new DecidedMessages(List.of(), Map.of()))
                  .release(leases.lockHeld(handle, claimId, given)));
    } catch (RuntimeException | Error e) {
      held.keep(given);
      throw e;
    }
  }

  /** Where something else has been done, or has failed. */
  private void giveBackLater(List<Lease> given) {
    try {
      giveBack(transactions, given);
    } catch (RuntimeException | Error e) { // the next statement meets it, too
    }
  }
}
