package dev.outbox.store.core.internal;

import dev.outbox.OutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.store.core.internal.BatchReader.Batch;
import dev.outbox.store.core.internal.Database.Leases;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;

/**
 * The life of a claim that stands for itself, in three transactions: lease and read; settle and go
 * on; settle and let go. Publishing comes between them, after a commit and outside any transaction.
 * Where a relay holds buckets, {@link HeldClaims} takes the place of this.
 *
 * <p>A key belongs to one of {@value Database#BUCKETS} buckets, by a hash. A worker leases buckets;
 * who holds a key's bucket holds the key.
 *
 * <ol>
 *   <li><b>lease and read</b>: lease free buckets that have work, longest unserved first. Then read
 *       the first due messages of each ({@link BatchReader}): a later statement sees what was
 *       committed before the lease. Move what cannot be sent now out of the way; commit.
 *   <li><b>settle and go on</b>: lock the buckets that are still ours by claim id and token, and
 *       apply the decisions to their messages ({@link Settlement}). Go on with the buckets that
 *       have more, and give the others back. Read the next batch from those and from others that
 *       are leased now; commit. For buckets that are not ours any more nothing happens, and the
 *       sequences of their messages are returned as lost.
 *   <li><b>settle and let go</b>: lock and apply in the same way; give all back; commit.
 * </ol>
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
  static final Duration MOVES = Duration.ofMillis(100);

  /** A lease that lasts is prolonged by this part more, so that not each batch must do it. */
  private static final int SLACK_PART = 4;

  private final Database<H> database;
  private final Leases<H> leases;
  private final Transactions<H> transactions;
  private final LongSupplier clock;

  Claims(Database<H> database, Transactions<H> transactions, LongSupplier clock) {
    this.database = database;
    this.leases = database.leases();
    this.transactions = transactions;
    this.clock = clock;
  }

  static Duration withSlack(Duration lease) {
    return lease.plus(lease.dividedBy(SLACK_PART));
  }

  /** What a worker leased, and what it does with it. */
  private static final class Leased<H> extends LeasedBatch {
    private final Claims<H> claims;

    /** This claim's own, until it is closed or handed on. */
    private Transactions<H> transactions;

    Leased(
        Claims<H> claims, UUID claimId, Batch batch, Transactions<H> transactions, Duration lease) {
      super(claimId, batch, lease);
      this.claims = claims;
      this.transactions = transactions;
    }

    @Override
    Set<Integer> settled(DecidedMessages decided) {
      return claims.settleAndLetGo(this, decided);
    }

    @Override
    Set<Integer> renewed() {
      return transactions.run(
          lease(), handle -> claims.leases.renew(handle, claimId, batch.leases(), lease()));
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

  /** Until there is something, or nothing more. */
  Leased<H> claim(Claim.Request request) {
    long began = clock.getAsLong();
    Leased<H> claim = leaseOnce(request);
    while (claim.isEmpty() && claim.pollAgain() && !isOver(LEASES_AGAIN, began)) {
      claim = leaseOnce(request);
    }
    return claim;
  }

  private Leased<H> leaseOnce(Claim.Request request) {
    UUID claimId = UUID.randomUUID();
    Transactions<H> own = transactions.forClaim();
    try {
      return pastMoves(
          own.run(request.lease(), handle -> fill(handle, own, claimId, List.of(), true, request)),
          request);
    } catch (RuntimeException | Error e) {
      own.abandon();
      throw e;
    }
  }

  /** Reads the next batch from the buckets that were kept, and from others while there is room. */
  private Leased<H> fill(
      H handle,
      Transactions<H> own,
      UUID claimId,
      List<Lease> held,
      boolean leasesMore,
      Claim.Request request) {
    BatchReader<H> reader = new BatchReader<>(handle, database, request);
    reader.read(
        endBefore(held, request.lease())
            ? extend(handle, leases, claimId, held, request.lease())
            : held);
    int most = Math.min(leases.mostBuckets() - reader.used(), reader.roomForBuckets());
    if (leasesMore && reader.hasRoom() && most > 0) {
      reader.read(leases.lease(handle, claimId, request, most));
    }
    Batch batch = reader.choose(!leasesMore);
    if (!batch.unused().isEmpty()) {
      leases.release(handle, claimId, batch.unused());
    }
    return new Leased<>(this, claimId, batch, own, request.lease());
  }

  /**
   * Messages that must wait may stand in front of others: moves them aside, lease by lease. What it
   * returns has messages, or has ended.
   */
  private Leased<H> pastMoves(Leased<H> claim, Claim.Request request) {
    long began = clock.getAsLong();
    Leased<H> current = claim;
    boolean fails = false;
    while (current.isEmpty() && !current.batch.leases().isEmpty()) {
      if (fails || isOver(MOVES, began)) {
        Set<Integer> ignored = settleAndLetGo(current, nothing(current));
        current.over();
        return current;
      }
      try {
        current = goOn(current, nothing(current), request).next();
      } catch (OutboxException e) { // what is leased must not stand still
        fails = true;
      }
    }
    if (current.isEmpty()) {
      current.end(transactions);
    }
    return current;
  }

  private static DecidedMessages nothing(Leased<?> claim) {
    return new DecidedMessages(claim.batch.rows(), Map.of());
  }

  private boolean isOver(Duration time, long began) {
    return clock.getAsLong() - began > time.toNanos();
  }

  // ---- settle and go on

  /** Empty where the claim is not one of these, or is over. */
  Optional<Settled> settleAndClaim(
      Claim done, Map<Long, Decision> decisions, Claim.Request request) {
    if (!(done instanceof Leased<?> leased) || leased.claims != this || leased.isOver()) {
      return Optional.empty();
    }
    @SuppressWarnings("unchecked") // these claims' own have their handle
    Leased<H> own = (Leased<H>) leased;
    Step<H> step = goOn(own, new DecidedMessages(own.batch.rows(), decisions), request);
    Leased<H> next = pastMoves(step.next(), request);
    own.over();
    if (next.batch.leases().isEmpty() && !leases.leasesInTransaction()) {
      next = claimOr(next, request);
    }
    return Optional.of(new Settled(own.lostBut(step.held()), next));
  }

  /** What is settled is settled, also when the claim fails: the next one meets the error again. */
  private Leased<H> claimOr(Leased<H> none, Claim.Request request) {
    try {
      return claim(request);
    } catch (OutboxException e) {
      return none;
    }
  }

  /**
   * What settling and going on came to.
   *
   * @param held the buckets that were still ours
   */
  private record Step<H>(Set<Integer> held, Leased<H> next) {}

  private Step<H> goOn(Leased<H> done, DecidedMessages decided, Claim.Request request) {
    return done.transactions.run(request.lease(), handle -> goOn(handle, done, decided, request));
  }

  private Step<H> goOn(H handle, Leased<H> done, DecidedMessages decided, Claim.Request request) {
    Settlement<H> settlement = new Settlement<>(handle, database, done.claimId, decided);
    Map<Integer, Lease> held = settlement.of(done.batch.leases());
    List<Lease> wanted = wanted(held.values(), done.batch, decided);
    List<Lease> used = used(wanted);
    List<Lease> others = new ArrayList<>(held.values());
    others.removeAll(used);
    settlement.release(others);
    UUID claimId = used.isEmpty() ? UUID.randomUUID() : done.claimId;
    boolean leasesMore =
        leases.leasesInTransaction() && (used.isEmpty() || used.size() == wanted.size());
    List<Lease> next =
        decided.isEmpty() ? extend(handle, leases, claimId, used, request.lease()) : used;
    return new Step<>(
        held.keySet(), fill(handle, done.transactions, claimId, next, leasesMore, request));
  }

  /**
   * The leases that are of use for the next batch: of buckets that have more. Not of buckets with
   * messages that have no decision, and not of those whose messages are handed out singly, because
   * a settle that is repeated would take back an attempt twice.
   */
  private static List<Lease> wanted(Collection<Lease> held, Batch done, DecidedMessages decided) {
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

  static boolean endBefore(Collection<Lease> held, Duration lease) {
    return held.stream().anyMatch(l -> l.left().compareTo(lease) < 0);
  }

  /**
   * Prolongs leases. A transaction in which nothing else was written needs it too: a commit that
   * writes nothing does not wait for the disk, and what it has read may not be durable yet (A1).
   */
  static <H> List<Lease> extend(
      H handle, Leases<H> leases, UUID claimId, List<Lease> held, Duration lease) {
    if (held.isEmpty()) {
      return held;
    }
    Duration left = withSlack(lease);
    Set<Integer> ignored = leases.renew(handle, claimId, held, left);
    return held.stream().map(l -> l.lasts(left)).toList();
  }

  // ---- settle and let go

  /** Returns the buckets that were still ours. */
  private Set<Integer> settleAndLetGo(Leased<H> done, DecidedMessages decided) {
    Set<Integer> held =
        done.transactions.run(
            done.lease(),
            handle -> {
              Settlement<H> settlement = new Settlement<>(handle, database, done.claimId, decided);
              Map<Integer, Lease> now = settlement.of(done.batch.leases());
              settlement.release(now.values());
              return now.keySet();
            });
    done.end(transactions);
    return held;
  }
}
