package dev.outbox.dev.torture;

import dev.outbox.Appended;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Writes down from when to when each claim surely lasted, and what was accepted of it: from after
 * the store gave it, to before the store is asked to settle it.
 *
 * <pre>
 *   claim     NUMBER ASKED_AT LEASE_NANOS SEQUENCE|KEY,…
 *   renewed   NUMBER ASKED_AT LEASE_NANOS SEQUENCE,…     those still ours
 *   settle    NUMBER
 *   settled   NUMBER SEQUENCE,…                          those not lost
 *   delivered NUMBER SEQUENCE,…                          those of them that are gone
 *   dead      SEQUENCE
 *   unseen                                               others do not see whether it lives
 *   session-lost                                         by which they see so
 * </pre>
 *
 * @param <T> a transaction
 * @param beforeSettle may take its time
 */
record JournalingStore<T>(
    OutboxStore<T> store, Journal journal, AtomicLong numbers, Runnable beforeSettle)
    implements KeepingStore<T>, SchemaStore {

  @Override
  public Appended append(T transaction, List<OutboxMessage> messages) {
    return store.append(transaction, messages);
  }

  @Override
  public boolean handsOver() {
    return store instanceof KeepingStore<T> able && able.handsOver();
  }

  @Override
  public Uncommitted append(Keeper keeper, T transaction, List<OutboxMessage> messages) {
    return store instanceof KeepingStore<T> able
        ? able.append(((JournalingKeeper) keeper).keeper, transaction, messages)
        : Uncommitted.of(store.append(transaction, messages));
  }

  @Override
  public Claim claim(Claim.Request request) {
    return claim(store, request);
  }

  @Override
  public Settled settleAndClaim(Claim done, Map<Long, Decision> decisions, Claim.Request next) {
    return settleAndClaim(store, done, decisions, next);
  }

  /** Keeps nothing where the store cannot. */
  @Override
  public Keeper keeper(Duration unclaimed) {
    return new JournalingKeeper(
        store instanceof KeepingStore<T> able ? able.keeper(unclaimed) : Keeper.ofNothing(store));
  }

  private final class JournalingKeeper implements Keeper {
    private final Keeper keeper;

    private JournalingKeeper(Keeper keeper) {
      this.keeper = keeper;
    }

    @Override
    public Claim claim(Claim.Request request) {
      return JournalingStore.this.claim(keeper, request);
    }

    @Override
    public Settled settleAndClaim(Claim done, Map<Long, Decision> decisions, Claim.Request next) {
      return JournalingStore.this.settleAndClaim(keeper, done, decisions, next);
    }

    @Override
    public void hold(Runnable announced) throws InterruptedException {
      try {
        keeper.hold(announced);
        journal.write("unseen");
      } catch (RuntimeException e) {
        journal.write("session-lost");
        throw e;
      }
    }

    @Override
    public boolean announce() {
      return keeper.announce();
    }

    @Override
    public void leave(Duration most) throws InterruptedException {
      keeper.leave(most);
    }

    @Override
    public boolean standsBy() {
      return keeper.standsBy();
    }

    @Override
    public void giveBackUnused() {
      keeper.giveBackUnused();
    }

    @Override
    public void close() {
      keeper.close();
    }
  }

  private Claim claim(Claim.Source source, Claim.Request request) {
    long asked = System.nanoTime();
    return begun(source.claim(request), asked, request);
  }

  private Settled settleAndClaim(
      Claim.Source source, Claim done, Map<Long, Decision> decisions, Claim.Request next) {
    Journaled ending = own(done);
    ending.settles(decisions);
    long asked = System.nanoTime();
    Settled settled = source.settleAndClaim(ending.claim, decisions, next);
    ending.settled(decisions, settled.lost());
    return new Settled(settled.lost(), begun(settled.next(), asked, next));
  }

  @Override
  public void housekeep() {
    store.housekeep();
  }

  @Override
  public String ddl() {
    return schema().ddl();
  }

  @Override
  public void migrate() {
    schema().migrate();
  }

  @Override
  public void verify() {
    schema().verify();
  }

  @Override
  public String place() {
    return schema().place();
  }

  @SuppressWarnings("unchecked") // the relay gives back what it got here
  private Journaled own(Claim claim) {
    return (Journaled) claim;
  }

  private SchemaStore schema() {
    return (SchemaStore) store;
  }

  private Claim begun(Claim claim, long asked, Claim.Request request) {
    Journaled journaled = new Journaled(claim, numbers.incrementAndGet());
    if (!claim.messages().isEmpty()) {
      Stream<String> messages = claim.messages().stream().map(m -> m.sequence() + "|" + m.key());
      journal.write(
          "claim", journaled.number, asked, request.lease().toNanos(), Journal.list(messages));
    }
    return journaled;
  }

  private final class Journaled implements Claim {
    private final Claim claim;
    private final long number;

    private Journaled(Claim claim, long number) {
      this.claim = claim;
      this.number = number;
    }

    @Override
    public List<StoredMessage> messages() {
      return claim.messages();
    }

    @Override
    public boolean pollAgain() {
      return claim.pollAgain();
    }

    @Override
    public Set<Long> renew(Duration lease) {
      long asked = System.nanoTime();
      Set<Long> ours = claim.renew(lease);
      journal.write(
          "renewed", number, asked, lease.toNanos(), Journal.list(sequences(ours::contains)));
      return ours;
    }

    @Override
    public Set<Long> settle(Map<Long, Decision> decisions) {
      settles(decisions);
      Set<Long> lost = claim.settle(decisions);
      settled(decisions, lost);
      return lost;
    }

    private void settles(Map<Long, Decision> decisions) {
      if (!messages().isEmpty()) {
        beforeSettle.run();
        decisions.forEach(
            (sequence, decision) -> {
              if (decision instanceof Decision.Dead) {
                journal.write("dead", sequence);
              }
            });
        journal.write("settle", number);
      }
    }

    private void settled(Map<Long, Decision> decisions, Set<Long> lost) {
      if (!messages().isEmpty()) {
        Set<Long> gone = new HashSet<>(lost);
        journal.write("settled", number, Journal.list(sequences(s -> !gone.contains(s))));
        journal.write(
            "delivered",
            number,
            Journal.list(
                sequences(
                    s -> !gone.contains(s) && decisions.get(s) instanceof Decision.Delivered)));
      }
    }

    private Stream<Long> sequences(Predicate<Long> which) {
      return messages().stream().map(StoredMessage::sequence).filter(which);
    }
  }
}
