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
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.store.core.internal.Administration;
import dev.outbox.store.core.internal.Database;
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
 * A store with every ability that the stores of this library have in common. It makes and checks
 * its schema, hands out claims and tidies up. It lists and counts what waits, and says which
 * workers hold leases and what slows them down. It requeues and discards dead letters, remembers
 * what is paused, and keeps what leaves it in an archive where it is told to. Safe for use by many
 * threads.
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

  /** Whether the schema was found right, after the last migration and the last housekeeping. */
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

  /**
   * Refuses a schema that this library does not work with.
   *
   * @throws dev.outbox.SchemaException saying what is wrong with it
   */
  protected abstract void checkSchema();

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
    return operations.forRelay(unclaimed, this::verifyOnce);
  }

  @Override
  public final List<DeadLetter> deadLetters(long afterSequence, int limit) {
    int checked = ArchiveStore.checked(limit);
    return operations.ask((asked, handle) -> asked.deadLetters(handle, afterSequence, checked));
  }

  @Override
  public final Set<Long> requeue(Set<Long> sequences, @Nullable Who by) {
    ArchiveStore.requireAudit(by, archive());
    return operations.ask((asked, handle) -> asked.requeue(handle, sequences, by));
  }

  @Override
  public final Set<Long> discard(Set<Long> sequences, @Nullable Who by) {
    ArchiveStore.requireAudit(by, archive());
    return operations.ask((asked, handle) -> asked.discard(handle, sequences, by));
  }

  @Override
  public final Set<Long> cancel(Set<Long> sequences, @Nullable Who by) {
    ArchiveStore.requireAudit(by, archive());
    return operations.ask((asked, handle) -> asked.cancel(handle, sequences, by));
  }

  @Override
  public final Page<Listed> messages(Query query) {
    return operations.look((inspection, handle) -> inspection.messages(handle, query));
  }

  @Override
  public final Optional<Inspected> message(long sequence) {
    return operations.look((inspection, handle) -> inspection.message(handle, sequence));
  }

  @Override
  public final Page<WaitingKey> waitingKeys(boolean halted, @Nullable String after, int limit) {
    int checked = ArchiveStore.checked(limit);
    return operations.look(
        (inspection, handle) -> inspection.waitingKeys(handle, halted, after, checked));
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
    return operations.ask(Administration::pauses);
  }

  @Override
  public final Archive archive() {
    return operations.archive();
  }

  @Override
  public final List<Archived> archived(Search search, int limit) {
    int checked = ArchiveStore.checked(limit);
    return operations.ask((asked, handle) -> asked.archived(handle, search, checked));
  }

  @Override
  public final Appended replay(List<Archived> messages, Who by) {
    return replay.apply(messages, by);
  }

  @Override
  public final List<Entry> audit(Instant from, int limit) {
    int checked = ArchiveStore.checked(limit);
    return operations.ask((asked, handle) -> asked.audit(handle, from, checked));
  }

  @Override
  public final Statistics statistics(int cap) {
    return operations.statistics(cap);
  }

  @Override
  public final Optional<Flow> flow() {
    return operations.ask(Administration::flow);
  }

  @Override
  public final List<Finding> findings() {
    return operations.ask(Administration::findings);
  }

  @Override
  public final Optional<List<WorkerLease>> leases() {
    return Optional.of(operations.ask(Administration::leases));
  }

  /** Somebody may have changed the schema meanwhile: the next claim looks at it again. */
  @Override
  public final void housekeep() {
    verified = false;
    operations.housekeep();
  }
}
