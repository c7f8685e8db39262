package dev.outbox.store.core;

import dev.outbox.OutboxException;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Decision;
import dev.outbox.spi.OutboxStore.Settled;
import dev.outbox.store.core.Statements.Held;
import dev.outbox.store.core.Statements.Release;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * The three transactions of a claim's life: lease and read; settle and go on; settle and let go.
 * Publishing comes between them, after a commit and outside any transaction.
 */
final class Claims<H> {

  /**
   * How long a bucket is kept from batch to batch before others may have it. Leasing it anew costs
   * about as much as a batch, so keeping it for some tens of batches is enough.
   */
  private static final Duration KEPT = Duration.ofMillis(100);

  /** A lease that is kept is prolonged by this part more, so that not each batch must do it. */
  private static final int SLACK_PART = 4;

  private final Transactions<H> transactions;
  private final Statements<H> statements;
  private final LongSupplier clock;

  /**
   * @param clock as {@link System#nanoTime}
   */
  Claims(Transactions<H> transactions, Statements<H> statements, LongSupplier clock) {
    this.transactions = transactions;
    this.statements = statements;
    this.clock = clock;
  }

  BucketClaim<H> claim(ClaimRequest request) {
    long began = clock.getAsLong();
    BucketClaim<H> claim = lease(request);
    while (claim.messages().isEmpty() && claim.pollAgain() && !longAfter(began)) {
      claim = lease(request);
    }
    return claim;
  }

  private BucketClaim<H> lease(ClaimRequest request) {
    UUID owner = UUID.randomUUID();
    Transactions<H> own = transactions.forClaim();
    try {
      return pastMoves(
          own.run(request.lease(), handle -> fill(handle, own, owner, List.of(), true, request)),
          request);
    } catch (RuntimeException | Error e) {
      own.abandon();
      throw e;
    }
  }

  Settled settleAndClaim(BucketClaim<H> done, Map<Long, Decision> decisions, ClaimRequest request) {
    Step<H> step = goOn(done, decisions, request);
    BucketClaim<H> next = pastMoves(step.next(), request);
    done.over();
    if (next.batch().leases().isEmpty() && !statements.leasesInTransaction()) {
      next = claimOr(next, request);
    }
    return new Settled(done.sequencesNotIn(step.held()), next);
  }

  /** What is settled is settled, also when the claim fails: the next one meets the error again. */
  private BucketClaim<H> claimOr(BucketClaim<H> none, ClaimRequest request) {
    try {
      return claim(request);
    } catch (OutboxException e) {
      return none;
    }
  }

  /** Settles and lets go; returns the buckets that were still ours. */
  Set<Integer> settle(BucketClaim<H> done, Map<Long, Decision> decisions) {
    Set<Integer> ours =
        done.transactions()
            .run(
                done.lease(),
                handle -> {
                  Map<Integer, Lease> held = apply(handle, done, decisions);
                  release(handle, done, decisions, held.values());
                  return held.keySet();
                });
    done.end(transactions);
    return ours;
  }

  /** Returns the buckets that are still ours. */
  Set<Integer> renew(BucketClaim<H> claim) {
    return claim
        .transactions()
        .run(
            claim.lease(),
            handle ->
                statements.renew(handle, claim.owner(), claim.batch().leases(), claim.lease()));
  }

  private record Step<H>(Set<Integer> held, BucketClaim<H> next) {}

  /** Settles, and takes the next claim, in one transaction. */
  private Step<H> goOn(BucketClaim<H> done, Map<Long, Decision> decisions, ClaimRequest request) {
    return done.transactions()
        .run(request.lease(), handle -> step(handle, done, decisions, request));
  }

  private Step<H> step(
      H handle, BucketClaim<H> done, Map<Long, Decision> decisions, ClaimRequest request) {
    Map<Integer, Lease> held = apply(handle, done, decisions);
    List<Lease> wanted = wanted(held.values(), done.batch(), decisions);
    List<Lease> kept = kept(wanted);
    List<Lease> others = new ArrayList<>(held.values());
    others.removeAll(kept);
    release(handle, done, decisions, others);
    UUID owner = kept.isEmpty() ? UUID.randomUUID() : done.owner();
    boolean leasesMore =
        statements.leasesInTransaction() && (kept.isEmpty() || kept.size() == wanted.size());
    if (decisions.isEmpty()) {
      extend(handle, owner, kept, request.lease());
    }
    return new Step<>(
        held.keySet(), fill(handle, done.transactions(), owner, kept, leasesMore, request));
  }

  /** Locks the buckets that are still ours, and carries the decisions out for their messages. */
  private Map<Integer, Lease> apply(H handle, BucketClaim<H> done, Map<Long, Decision> decisions) {
    Map<Integer, Held> locked =
        statements.lockHeld(handle, done.owner(), done.batch().leases()).stream()
            .collect(Collectors.toMap(Held::bucket, Function.identity()));
    List<Row> ours =
        done.batch().rows().stream().filter(row -> locked.containsKey(row.bucket())).toList();
    Set<Integer> counted =
        done.batch().leases().stream()
            .filter(Lease::single)
            .map(Lease::bucket)
            .collect(Collectors.toSet());
    new Settlement<>(handle, statements, counted).apply(ours, decisions);
    Map<Integer, Lease> held = new HashMap<>();
    for (Lease lease : done.batch().leases()) {
      Held now = locked.get(lease.bucket());
      if (now != null) {
        held.put(lease.bucket(), lease.goesOn(now));
      }
    }
    return held;
  }

  private void release(
      H handle, BucketClaim<H> done, Map<Long, Decision> decisions, Collection<Lease> leases) {
    if (leases.isEmpty()) {
      return;
    }
    Map<Integer, Integer> decided = new HashMap<>();
    for (Row row : done.batch().rows()) {
      if (decisions.containsKey(row.sequence())) {
        decided.merge(row.bucket(), 1, Integer::sum);
      }
    }
    statements.release(
        handle,
        done.owner(),
        leases.stream()
            .map(l -> new Release(l, decided.getOrDefault(l.bucket(), 0), true, false))
            .toList());
  }

  /**
   * The leases that are of use for the next batch: of buckets that have more. Not of buckets with
   * messages that have no decision, and not of those whose messages are handed out singly, because
   * a settle that is repeated would take back an attempt twice.
   */
  private static List<Lease> wanted(
      Collection<Lease> held, Batch done, Map<Long, Decision> decisions) {
    Set<Integer> undecided = new HashSet<>();
    for (Row row : done.rows()) {
      if (!decisions.containsKey(row.sequence())) {
        undecided.add(row.bucket());
      }
    }
    return held.stream()
        .filter(lease -> done.more().contains(lease.bucket()))
        .filter(lease -> !lease.single() && !undecided.contains(lease.bucket()))
        .toList();
  }

  /**
   * Without half of those that were held for long enough. While there is a rest to be busy with,
   * nothing is leased in the transaction that gives them up, so that others see them free: else a
   * worker that comes later would never get any.
   */
  private List<Lease> kept(List<Lease> wanted) {
    long now = clock.getAsLong();
    List<Lease> old =
        wanted.stream().filter(lease -> now - lease.since() >= KEPT.toNanos()).toList();
    List<Lease> kept = new ArrayList<>(wanted);
    kept.removeAll(old.subList(0, (old.size() + 1) / 2));
    return kept;
  }

  /** Reads the next batch from the buckets that were kept, and from others while there is room. */
  private BucketClaim<H> fill(
      H handle,
      Transactions<H> own,
      UUID owner,
      List<Lease> kept,
      boolean leasesMore,
      ClaimRequest request) {
    BatchReader<H> reader = new BatchReader<>(handle, statements, owner, request);
    prolong(handle, owner, kept, request.lease());
    reader.read(kept);
    int most = Math.min(statements.mostBuckets() - reader.used(), reader.roomForBuckets());
    if (leasesMore && reader.hasRoom() && most > 0) {
      reader.read(statements.lease(handle, owner, request, most));
    }
    return new BucketClaim<>(this, own, owner, reader.choose(!leasesMore), request.lease());
  }

  private void prolong(H handle, UUID owner, List<Lease> kept, Duration lease) {
    boolean needed = kept.stream().anyMatch(l -> l.left().compareTo(lease) < 0);
    if (needed) {
      extend(handle, owner, kept, lease);
    }
  }

  /**
   * Prolongs leases. A transaction in which nothing else was written needs it too: a commit that
   * writes nothing does not wait for the disk, and what it has read may not be durable yet (A1).
   */
  private void extend(H handle, UUID owner, List<Lease> kept, Duration lease) {
    if (!kept.isEmpty()) {
      statements.renew(handle, owner, kept, lease.plus(lease.dividedBy(SLACK_PART)));
    }
  }

  /**
   * Messages that must wait may stand in front of others: moves them aside, lease by lease. What it
   * returns has messages, or has ended.
   */
  private BucketClaim<H> pastMoves(BucketClaim<H> claim, ClaimRequest request) {
    long began = clock.getAsLong();
    BucketClaim<H> current = claim;
    while (current.messages().isEmpty() && !current.batch().leases().isEmpty()) {
      if (longAfter(began)) {
        Set<Integer> ignored = settle(current, Map.of());
        current.over();
        return current;
      }
      current = goOn(current, Map.of(), request).next();
    }
    if (current.messages().isEmpty()) {
      current.end(transactions);
    }
    return current;
  }

  private boolean longAfter(long began) {
    return clock.getAsLong() - began > KEPT.toNanos();
  }
}
