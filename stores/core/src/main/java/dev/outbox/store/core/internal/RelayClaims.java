package dev.outbox.store.core.internal;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.KeepingStore.Uncommitted.Committed;
import dev.outbox.store.core.internal.HeldBuckets.Found;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The claims of one relay. While others can see that it lives, it claims from what it holds;
 * otherwise each claim leases for itself. Safe for use by many threads.
 */
public final class RelayClaims<H> implements Keeper {
  private final StoreOperations<H> operations;
  private final Runnable verify;
  final HeldBuckets held;
  private final HeldClaims<H> claims;
  private final Holder<H> holder;

  RelayClaims(
      StoreOperations<H> operations,
      Database<H> database,
      Transactions<H> transactions,
      Duration unclaimed,
      Runnable verify,
      LongSupplier clock) {
    this.operations = operations;
    this.verify = verify;
    held = new HeldBuckets(unclaimed, clock);
    claims = new HeldClaims<>(database, transactions, held, clock);
    Holding<H> holding = requireNonNull(database.leases().holding(), "a store that can hold");
    holder =
        new Holder<>(transactions, holding, held, claims, operations::restoredNowAndThen, clock);
  }

  @Override
  public Claim claim(Claim.Request request) {
    verify.run();
    boolean isFirst = held.request() == null;
    if (!held.claims(request)) {
      return operations.claim(request);
    }
    operations.noteLease(request);
    if (isFirst) {
      holder.tell();
    }
    return claims.claim(request);
  }

  @Override
  public Settled settleAndClaim(Claim done, Map<Long, Decision> decisions, Claim.Request next) {
    Optional<Settled> settled = claims.settleAndClaim(done, decisions, next);
    if (claims.hasLetGo()) {
      holder.tell();
    }
    if (settled.isEmpty()) {
      settled =
          held.isShown()
              ? Optional.of(goOver(done, decisions, next))
              : operations.settleAndClaim(done, decisions, next);
    }
    // A claim that is not one of these, or is over.
    return settled.orElseGet(() -> Keeper.super.settleAndClaim(done, decisions, next));
  }

  /**
   * Ends a claim that stood for itself, gives back what it leased, and goes on with what is held.
   */
  private Settled goOver(Claim done, Map<Long, Decision> decisions, Claim.Request next) {
    Set<Long> lost = done.settle(decisions);
    holder.tell();
    boolean ignored = held.claims(next);
    return new Settled(lost, claims.claimOrNothing(next));
  }

  @Override
  public void hold(Runnable announced) throws InterruptedException {
    holder.hold(announced);
  }

  @Override
  public boolean announce() {
    return holder.announce(Announcement.ANYTHING);
  }

  @Override
  public boolean standsBy() {
    return holder.standsBy();
  }

  @Override
  public void leave(Duration most) throws InterruptedException {
    if (held.isShown()) {
      boolean ignored = holder.leave(most);
    }
  }

  @Override
  public void giveBackUnused() {
    claims.giveBackUnclaimed();
  }

  /** Gives back what is held; nothing is from then on. */
  @Override
  public void close() {
    claims.close();
    holder.tell();
  }

  /**
   * The leases that messages could be handed over to. No leases: an append asks only to tell those
   * who hold the buckets. Empty: an append need not ask.
   */
  public Optional<List<Lease>> open() {
    List<Lease> open = held.open();
    return open.isEmpty() && !holder.announces() ? Optional.empty() : Optional.of(open);
  }

  /** After a commit of so many messages: hands over what it can, and tells of the rest. */
  public Committed committed(int messages, AppendReport report) {
    Found found = held.committed(messages, report);
    if (!held.isShown() || found.count() < messages || !areTold(found.elsewhere())) {
      return Committed.UNKNOWN;
    }
    if (found.noted() > 0) {
      return Committed.HERE;
    }
    return found.handed() > 0 ? Committed.HANDED_OVER : Committed.ELSEWHERE;
  }

  /** Tells those who hold these buckets. Where nobody does, this relay is about to take them. */
  private boolean areTold(Map<Long, Integer> elsewhere) {
    return elsewhere.isEmpty()
        || holder.announces()
            && holder.announce(new Announcement(elsewhere))
            && holder.othersHold();
  }
}
