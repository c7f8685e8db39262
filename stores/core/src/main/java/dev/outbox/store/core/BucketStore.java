package dev.outbox.store.core;

import dev.outbox.Appended;
import dev.outbox.Archive;
import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.KeepingStore;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.KeepingStore.Uncommitted.Committed;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.store.core.internal.AppendReport;
import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.RelayClaims;
import dev.outbox.store.core.internal.StoreOperations;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A store with every ability that the stores of this library have in common: it makes and checks
 * its schema, hands out claims, lists what waits, remembers what is paused, requeues and discards
 * dead letters, keeps what leaves it in an archive where it is told to, counts what waits, says
 * which workers hold leases and what slows them down, and tidies up. Safe for use by many threads.
 *
 * <p>Use the store of your database; this is the type to name where any of them may come. A store
 * of your own implements {@link OutboxStore} and does not extend this class.
 *
 * @param <T> the type of the transactions that messages are appended in
 */
public abstract class BucketStore<T>
    implements OutboxStore<T>,
        SchemaStore,
        ArchiveStore,
        InspectionStore,
        PauseStore,
        StatisticsStore {

  /** How long a dedup key is remembered unless told otherwise. */
  public static final Duration DEFAULT_DEDUP_WINDOW = Duration.ofDays(7);

  /** How many parts the keys are divided into; a worker leases parts, and so their keys. */
  public static final int BUCKETS = Database.BUCKETS;

  private final StoreOperations<?> operations;
  private final BiFunction<List<Archived>, Who, Appended> replay;
  private volatile boolean verified;

  /**
   * @param transaction makes a transaction of the store's own one that messages are appended in
   */
  protected <H> BucketStore(StoreOperations<H> operations, Function<H, T> transaction) {
    this.operations = operations;
    replay =
        (messages, by) ->
            operations.replay(
                messages, by, (handle, again) -> append(transaction.apply(handle), again));
  }

  /** How long a dedup key is remembered. */
  protected final Duration dedupWindow() {
    return operations.dedupWindow();
  }

  /** Whether the schema was found right, after the last migration and the last housekeeping. */
  protected final boolean verified() {
    return verified;
  }

  /** Notes that the schema was found right. */
  protected final void setVerified() {
    verified = true;
  }

  /**
   * Refuses a schema that this library does not work with.
   *
   * @throws dev.outbox.SchemaException saying what is wrong with it
   */
  protected abstract void checkSchema();

  /** As {@link #migrate}. */
  protected abstract void migrateSchema();

  @Override
  public final void migrate() {
    migrateSchema();
    verified = false;
  }

  @Override
  public final void verify() {
    checkSchema();
    verified = true;
  }

  private void verifyOnce() {
    if (!verified) {
      verify();
    }
  }

  @Override
  public final Claim claim(Claim.Request request) {
    verifyOnce();
    return operations.claim(request);
  }

  @Override
  public final Settled settleAndClaim(
      Claim done, Map<Long, Decision> decisions, Claim.Request next) {
    return operations
        .settleAndClaim(done, decisions, next)
        .orElseGet(() -> OutboxStore.super.settleAndClaim(done, decisions, next));
  }

  /** For stores that can: {@link KeepingStore#keeper}. */
  protected final Keeper keep(Duration unclaimed) {
    return new RelayKeeper(operations.forRelay(unclaimed));
  }

  /**
   * The leases that messages could be handed over to; empty when an append need not say where its
   * messages are.
   */
  protected static Optional<List<Lease>> open(Keeper keeper) {
    return keeper instanceof BucketStore<?>.RelayKeeper ours
        ? ours.claims.open()
        : Optional.empty();
  }

  /**
   * After a commit, for stores that can: hands over what was alone in its bucket when it was
   * appended, and says to other relays where the rest is.
   *
   * @param messages how many the append had
   */
  protected static Committed committed(Keeper keeper, int messages, AppendReport report) {
    return keeper instanceof BucketStore<?>.RelayKeeper ours
        ? ours.claims.committed(messages, report)
        : Committed.UNKNOWN;
  }

  private final class RelayKeeper implements Keeper {
    private final RelayClaims<?> claims;

    private RelayKeeper(RelayClaims<?> claims) {
      this.claims = claims;
    }

    @Override
    public void hold(Runnable announced) throws InterruptedException {
      claims.hold(announced);
    }

    @Override
    public boolean announce() {
      return claims.announce();
    }

    @Override
    public void leave(Duration most) throws InterruptedException {
      claims.leave(most);
    }

    @Override
    public Claim claim(Claim.Request request) {
      verifyOnce();
      return claims.claim(request);
    }

    @Override
    public Settled settleAndClaim(Claim done, Map<Long, Decision> decisions, Claim.Request next) {
      return claims
          .settleAndClaim(done, decisions, next)
          .orElseGet(() -> Keeper.super.settleAndClaim(done, decisions, next));
    }

    @Override
    public boolean standsBy() {
      return claims.standsBy();
    }

    @Override
    public void giveBackUnused() {
      claims.giveBackUnclaimed();
    }

    @Override
    public void close() {
      claims.close();
    }
  }

  @Override
  public final List<DeadLetter> deadLetters(long afterSequence, int limit) {
    return operations.deadLetters(afterSequence, limit);
  }

  @Override
  public final Set<Long> requeue(Set<Long> sequences) {
    return operations.requeue(sequences);
  }

  @Override
  public final Set<Long> cancel(Set<Long> sequences) {
    return operations.cancel(sequences);
  }

  @Override
  public final Set<Long> cancel(Set<Long> sequences, Who by) {
    return operations.cancel(sequences, by);
  }

  @Override
  public final Set<Long> discard(Set<Long> sequences) {
    return operations.discard(sequences);
  }

  @Override
  public final Set<Long> requeue(Set<Long> sequences, Who by) {
    return operations.requeue(sequences, by);
  }

  @Override
  public final Set<Long> discard(Set<Long> sequences, Who by) {
    return operations.discard(sequences, by);
  }

  @Override
  public final Page<Listed> messages(Query query) {
    return operations.messages(query);
  }

  @Override
  public final Optional<Inspected> message(long sequence) {
    return operations.message(sequence);
  }

  @Override
  public final Page<WaitingKey> waitingKeys(boolean halted, @Nullable String after, int limit) {
    return operations.waitingKeys(halted, after, limit);
  }

  @Override
  public final void pause(@Nullable String aggregateType, Who by) {
    operations.pause(aggregateType, by, hasArchive());
  }

  @Override
  public final boolean resume(@Nullable String aggregateType, Who by) {
    return operations.resume(aggregateType, by, hasArchive());
  }

  @Override
  public final List<Pause> pauses() {
    return operations.pauses();
  }

  @Override
  public final Archive archive() {
    return operations.archive();
  }

  @Override
  public final List<Archived> archived(Search search, int limit) {
    return operations.archived(search, limit);
  }

  @Override
  public final Appended replay(List<Archived> messages, Who by) {
    return replay.apply(messages, by);
  }

  @Override
  public final List<Entry> audit(Instant from, int limit) {
    return operations.audit(from, limit);
  }

  @Override
  public final Statistics statistics(int cap) {
    return operations.statistics(cap);
  }

  @Override
  public final Optional<Flow> flow() {
    return operations.flow();
  }

  @Override
  public final List<Finding> findings() {
    return operations.findings();
  }

  @Override
  public final Optional<List<WorkerLease>> leases() {
    return Optional.of(operations.leases());
  }

  /** Somebody may have changed the schema meanwhile: the next claim looks at it again. */
  @Override
  public final void housekeep() {
    verified = false;
    operations.housekeep();
  }
}
