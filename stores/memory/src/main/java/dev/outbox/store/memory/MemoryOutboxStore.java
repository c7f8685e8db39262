package dev.outbox.store.memory;

import static java.util.Objects.requireNonNull;

import dev.outbox.Appended;
import dev.outbox.Archive;
import dev.outbox.NoTransactionException;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.KeepingStore;
import dev.outbox.spi.store.KeepingStore.Uncommitted.Committed;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.StatisticsStore;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The contract of {@code SPEC.md} in memory, and nothing else: to read first, to compare other
 * stores with, and to test with. Nothing survives the process.
 *
 * <p>How it works. One lock around everything; of each key it has the {@link Row}s by sequence and
 * the claim that holds it.
 *
 * <ol>
 *   <li>Append gives each message the next sequence and keeps it in the transaction (A1). Its dedup
 *       key is taken at once; an append that meets the dedup key of another open transaction waits
 *       for the end of that one (A4).
 *   <li>Commit puts the messages into their keys. So a message with a low sequence may come late,
 *       as in databases.
 *   <li>Claim goes over the keys, the one longest not claimed first (C6), and skips those that are
 *       leased (C1), until it has what was asked for. Of a key it takes what {@link Key#due} says:
 *       from the oldest on (C2), nothing past one that waits for its retry (O2).
 *   <li>The claim becomes the holder of these keys. A claim that meets a lease that ran out takes
 *       the key over by becoming its holder (C4).
 *   <li>Settle changes only the keys that the claim still holds (S1): carries out the decisions and
 *       gives the key back, without a holder. So a second settle of a claim changes nothing.
 *   <li>When three claims of a key in a row let the lease run out, its first message may be what
 *       ends the process. That message is claimed alone, and its attempt counts at the claim (S6).
 *   <li>What leaves its key, delivered or discarded, goes into the archive in the same breath (S7).
 *   <li>A {@link MemoryKeeper} holds keys for the next claims that come through it, and does not
 *       give them back with their messages (C8). It says of a commit whether these claims find its
 *       messages at once (C9).
 * </ol>
 *
 * <p>The class is not final, and some steps are not private, for the sake of the broken stores in
 * the tests of {@code outbox-tck}.
 */
public class MemoryOutboxStore extends MemoryKeys
    implements KeepingStore<MemoryTransaction>,
        StatisticsStore,
        ArchiveStore,
        InspectionStore,
        PauseStore {

  /** How long a dedup key is remembered unless said otherwise: 7 days. */
  public static final Duration DEFAULT_DEDUP_WINDOW = Duration.ofDays(7);

  private final Archive archive;
  private final @Nullable Duration deadLetterRetention;

  /** What left, in this order. */
  final List<Archived> archived = new ArrayList<>();

  private final List<Entry> audit = new ArrayList<>();

  /** By {@link PauseStore#name}. */
  final Map<String, Pause> pauses = new HashMap<>();

  private final DedupKeys dedupKeys;
  long lastSequence;

  /** A store with the system's clock and the {@link #DEFAULT_DEDUP_WINDOW}. */
  public MemoryOutboxStore() {
    this(InstantSource.system(), DEFAULT_DEDUP_WINDOW);
  }

  /**
   * @param clock the store's clock, by which leases, delays and the dedup window are measured
   * @param dedupWindow how long a dedup key is remembered (A4)
   */
  public MemoryOutboxStore(InstantSource clock, Duration dedupWindow) {
    this(clock, dedupWindow, Archive.NONE, null);
  }

  /**
   * @param clock the store's clock, by which leases, delays and the dedup window are measured
   * @param dedupWindow how long a dedup key is remembered (A4)
   * @param archive what is kept of messages that leave (S7); until {@link #clear}
   * @param deadLetterRetention how long dead letters are kept that halt no key; null: until
   *     somebody decides
   */
  public MemoryOutboxStore(
      InstantSource clock,
      Duration dedupWindow,
      Archive archive,
      @Nullable Duration deadLetterRetention) {
    super(clock);
    this.deadLetterRetention = deadLetterRetention;
    this.archive = requireNonNull(archive, "archive");
    this.dedupKeys = new DedupKeys(this::now, requireNonNull(dedupWindow, "dedupWindow"));
  }

  public MemoryTransaction begin() {
    return new MemoryTransaction(this);
  }

  /** Commits when {@code work} returns; rolls back and rethrows when it throws. */
  public void inTransaction(Consumer<MemoryTransaction> work) {
    MemoryTransaction transaction = begin();
    try {
      work.accept(transaction);
      transaction.commit();
    } finally {
      transaction.rollback(); // does nothing after the commit
    }
  }

  /** Removes everything; what claims from before still do changes nothing. */
  public synchronized void clear() {
    keys.clear();
    dedupKeys.clear();
    archived.clear();
    audit.clear();
    pauses.clear();
  }

  @Override
  public synchronized Appended append(MemoryTransaction transaction, List<OutboxMessage> messages) {
    requireOpen(transaction);
    Set<UUID> duplicates = new HashSet<>();
    Map<UUID, Long> sequences = new HashMap<>();
    for (OutboxMessage message : messages) {
      if (message.dedupKey() != null && !takeDedupKey(message.dedupKey(), transaction)) {
        duplicates.add(message.id());
      } else {
        Row row = newRow(message.key(), message);
        transaction.rows.add(row);
        sequences.put(message.id(), row.sequence);
      }
    }
    return Appended.of(messages, duplicates, sequences);
  }

  boolean takeDedupKey(String dedupKey, MemoryTransaction transaction) {
    return dedupKeys.take(dedupKey, transaction);
  }

  @Override
  public boolean handsOver() {
    return true;
  }

  /** A claim reads memory in any case: all there is to hand over is the word. */
  @Override
  public synchronized Uncommitted append(
      Keeper keeper, MemoryTransaction transaction, List<OutboxMessage> messages) {
    requireOpen(transaction);
    int before = transaction.rows.size();
    Appended appended = append(transaction, messages);
    List<Row> rows = List.copyOf(transaction.rows.subList(before, transaction.rows.size()));
    return Uncommitted.of(
        appended,
        () ->
            keeper instanceof MemoryKeeper own && own.handOver(rows)
                ? Committed.HANDED_OVER
                : Committed.UNKNOWN);
  }

  /** Refuses a transaction of another store, and one that is over. */
  void requireOpen(MemoryTransaction transaction) {
    if (transaction.store != this || !transaction.active) {
      throw new NoTransactionException(
          "the transaction "
              + (transaction.active ? "is of another store" : "has ended")
              + ": use one that begin() of this store returned and that is still open");
    }
  }

  /** A row for a message, or for one that cannot be decoded. */
  Row newRow(String key, @Nullable OutboxMessage message) {
    return new Row(++lastSequence, key, now(), message);
  }

  synchronized void commit(MemoryTransaction transaction) {
    if (transaction.active) {
      transaction.rows.forEach(
          row -> keys.computeIfAbsent(row.key, Key::new).rows.put(row.sequence, row));
      end(transaction);
    }
  }

  synchronized void rollback(MemoryTransaction transaction) {
    if (transaction.active) {
      dedupKeys.rolledBack(transaction);
      transaction.undo.forEach(Runnable::run);
      end(transaction);
    }
  }

  private void end(MemoryTransaction transaction) {
    transaction.active = false;
    transaction.rows.clear();
    transaction.undo.clear();
    notifyAll();
  }

  @Override
  public synchronized Claim claim(Claim.Request request) {
    return claim(newClaim(null), request);
  }

  @Override
  public Keeper keeper(Duration unclaimed) {
    return new MemoryKeeper(this, unclaimed);
  }

  /** A message leaves for the archive, if there is one. */
  @Override
  void leave(Key key, Row row, Outcome outcome, Decision.@Nullable Delivered delivered) {
    boolean wasThere = key.rows.remove(row.sequence) != null && keys.get(key.name) == key;
    if (wasThere && archive != Archive.NONE) { // and not removed with everything
      archive(row, outcome, delivered == null ? null : delivered.answer());
    }
  }

  void archive(Row row, Outcome outcome, @Nullable String answer) {
    boolean whole = archive == Archive.FULL;
    archived.add(
        new Archived(
            whole ? row.toStored() : row.toStoredWithoutContent(),
            whole,
            now(),
            outcome,
            answer,
            row.dead ? row.error : null));
  }

  @Override
  public synchronized List<DeadLetter> deadLetters(long afterSequence, int limit) {
    return dead().tailMap(afterSequence, false).values().stream()
        .limit(ArchiveStore.checked(limit))
        .map(row -> new DeadLetter(row.toStored(), row.error, row.failedAt, row.haltsKey))
        .toList();
  }

  @Override
  public synchronized Set<Long> requeue(Set<Long> sequences, @Nullable Who by) {
    return decide(dead(), sequences, noting(Action.REQUEUED, by).andThen(this::requeue));
  }

  void requeue(Row row) {
    row.dead = false;
    row.failed = false;
    row.attempts = 0;
    row.dueAt = Row.ALWAYS;
  }

  @Override
  public synchronized Set<Long> discard(Set<Long> sequences, @Nullable Who by) {
    return decide(dead(), sequences, noting(Action.DISCARDED, by).andThen(this::discard));
  }

  void discard(Row row) {
    remove(row, Outcome.DISCARDED);
  }

  @Override
  public synchronized Set<Long> cancel(Set<Long> sequences, @Nullable Who by) {
    Instant now = now();
    NavigableMap<Long, Row> undue = rows(row -> mayBeCancelled(row, now));
    return decide(undue, sequences, noting(Action.DISCARDED, by).andThen(this::cancel));
  }

  void cancel(Row row) {
    remove(row, Outcome.DISCARDED);
  }

  /** No claim has had it: its time has not come. */
  boolean mayBeCancelled(Row row, Instant now) {
    return !row.dead && !row.failed && !row.isDue(now);
  }

  private static Set<Long> decide(
      NavigableMap<Long, Row> rows, Set<Long> sequences, Consumer<Row> decide) {
    rows.keySet().retainAll(sequences);
    rows.values().forEach(decide);
    return rows.keySet();
  }

  private void remove(Row dead, Outcome outcome) {
    Key key = requireNonNull(keys.get(dead.key));
    leave(key, dead, outcome, null);
    forgetIfEmpty(key);
  }

  /** Removes the dead letters that are kept no longer. */
  @Override
  public synchronized void housekeep() {
    if (deadLetterRetention != null) {
      Instant before = now().minus(deadLetterRetention);
      dead().values().stream()
          .filter(row -> isExpired(row, before))
          .forEach(row -> remove(row, Outcome.EXPIRED));
    }
  }

  boolean isExpired(Row dead, Instant before) {
    return !dead.haltsKey && dead.failedAt != null && dead.failedAt.isBefore(before);
  }

  private Consumer<Row> noting(Action action, @Nullable Who by) {
    ArchiveStore.requireAudit(by, archive);
    return row ->
        note(action, row.sequence, row.message == null ? "" : row.message.id().toString(), by);
  }

  private void note(Action action, long sequence, String id, @Nullable Who by) {
    if (by != null && archive != Archive.NONE) {
      audit.add(new Entry(now(), action, by.name(), by.reason(), sequence, id));
    }
  }

  @Override
  public synchronized List<Entry> audit(Instant from, int limit) {
    return audit.stream()
        .filter(entry -> !entry.at().isBefore(from))
        .limit(ArchiveStore.checked(limit))
        .toList();
  }

  @Override
  public final Archive archive() {
    return archive;
  }

  @Override
  public final boolean hasArchive() {
    return archive != Archive.NONE;
  }

  @Override
  public synchronized List<Archived> archived(Search search, int limit) {
    int most = ArchiveStore.checked(limit);
    return archived.stream()
        .filter(search::includes)
        .sorted(Comparator.comparing(Archived::position))
        .limit(most)
        .toList();
  }

  @Override
  public synchronized Appended replay(List<Archived> messages, Who by) {
    ArchiveStore.requireAudit(requireNonNull(by, "by"), archive);
    List<OutboxMessage> again = messages.stream().map(Archived::again).toList();
    List<Appended> appended = new ArrayList<>();
    inTransaction(transaction -> appended.add(append(transaction, again)));
    messages.stream()
        .map(Archived::message)
        .forEach(one -> note(Action.REPLAYED, one.sequence(), one.message().id().toString(), by));
    return appended.get(0);
  }

  private NavigableMap<Long, Row> dead() {
    return rows(row -> row.dead);
  }

  private NavigableMap<Long, Row> rows(Predicate<Row> wanted) {
    NavigableMap<Long, Row> rows = new TreeMap<>();
    for (Key key : keys.values()) {
      key.rows.values().stream().filter(wanted).forEach(row -> rows.put(row.sequence, row));
    }
    return rows;
  }

  @Override
  public synchronized Page<Listed> messages(Query query) {
    return inspection().messages(query);
  }

  @Override
  public synchronized Optional<Inspected> message(long sequence) {
    return inspection().message(sequence);
  }

  @Override
  public synchronized Page<WaitingKey> waitingKeys(
      boolean halted, @Nullable String after, int limit) {
    return inspection().waitingKeys(halted, after, limit);
  }

  @Override
  public synchronized void pause(@Nullable String aggregateType, Who by) {
    String name = PauseStore.name(aggregateType);
    pauses.put(name, new Pause(aggregateType, now(), by.name(), by.reason()));
    note(Action.PAUSED, 0, name, by);
  }

  @Override
  public synchronized boolean resume(@Nullable String aggregateType, Who by) {
    String name = PauseStore.name(aggregateType);
    boolean was = pauses.remove(name) != null;
    if (was) {
      note(Action.RESUMED, 0, name, by);
    }
    return was;
  }

  @Override
  public synchronized List<Pause> pauses() {
    return List.copyOf(pauses.values());
  }

  private MemoryInspection inspection() {
    return new MemoryInspection(keys.values(), now());
  }

  @Override
  public synchronized Statistics statistics(int cap) {
    int most = StatisticsStore.checked(cap);
    Instant now = now();
    List<Row> free = new ArrayList<>();
    List<Row> blocked = new ArrayList<>();
    for (Key key : keys.values()) {
      boolean waits = key.isHalted();
      for (Row row : key.live()) {
        waits |= row.failed;
        (waits ? blocked : free).add(row);
      }
    }
    long pending = free.stream().filter(row -> row.isDue(now)).count();
    long waiting = keys.values().stream().filter(Key::isWaiting).count();
    long halted = keys.values().stream().filter(Key::isHalted).count();
    return new Statistics(
        cap,
        Math.min(most, pending),
        Math.min(most, free.size() - pending),
        Math.min(most, blocked.size()),
        Math.min(most, dead().size()),
        Math.min(most, waiting),
        Math.min(most, halted),
        oldest(free, now),
        oldest(blocked, now),
        null);
  }

  @Override
  public synchronized Optional<Flow> flow() {
    int there = keys.values().stream().mapToInt(key -> key.rows.size()).sum();
    return Optional.of(new Flow(lastSequence, lastSequence - there));
  }

  private static @Nullable Duration oldest(List<Row> rows, Instant now) {
    return rows.stream()
        .filter(row -> row.isDue(now))
        .map(row -> Duration.between(row.waitsSince(), now))
        .max(Comparator.naturalOrder())
        .orElse(null);
  }
}
