package dev.outbox.store.core.internal;

import dev.outbox.NoTransactionException;
import dev.outbox.OutboxMessage;
import dev.outbox.SchemaException;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Search;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.InspectionStore.Inspected;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Page;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.InspectionStore.WaitingKey;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.PauseStore.Pause;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.spi.store.StatisticsStore.WorkerLease;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.core.internal.Database.Block;
import dev.outbox.store.core.internal.Database.Failure;
import dev.outbox.store.core.internal.Database.Key;
import dev.outbox.store.core.internal.Database.Leases;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Pending;
import dev.outbox.store.core.internal.Database.Reads;
import dev.outbox.store.core.internal.Database.Release;
import dev.outbox.store.core.internal.Database.Writes;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.core.internal.Row.EmptyKey;
import dev.outbox.store.core.internal.Row.OfMessage;
import dev.outbox.store.core.internal.Row.ToMove;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The {@link Database} on maps: what the other databases do in SQL. One lock around each of the
 * store's transactions. It refuses a lease that does not bring back the state which it was given
 * last.
 */
final class MapDatabase
    implements Leases<MapDatabase>,
        Reads<MapDatabase>,
        Writes<MapDatabase>,
        Administration<MapDatabase>,
        Inspection<MapDatabase>,
        Transactions<MapDatabase> {
  static final int VERSION = 2;
  private static final int SUSPICIOUS = 2;

  /** A producer's transaction. */
  static final class Producer {
    private final List<Message> messages = new ArrayList<>();
    private boolean ended;
  }

  private static final class Message {
    private final UUID id = UUID.randomUUID();
    private final long sequence;
    private final String key;
    private final Instant createdAt;

    /** Null when it cannot be decoded. */
    private final OutboxMessage content;

    private Instant availableAt;
    private Status status;
    private int attempts;
    private String error;
    private Instant failedAt;

    private Message(long sequence, String key, Instant createdAt, OutboxMessage content) {
      this.sequence = sequence;
      this.key = key;
      this.createdAt = createdAt;
      this.content = content;
      availableAt = content == null ? null : content.availableAt();
      status = Status.PENDING;
    }

    private boolean isDue(Instant now) {
      return availableAt == null || !availableAt.isAfter(now);
    }

    private boolean isUndue(Instant now) {
      return status == Status.SCHEDULED && !isDue(now);
    }

    private int size() {
      return content == null ? 0 : content.payloadSize();
    }

    private StoredMessage stored() {
      return content == null
          ? StoredMessage.undecodable(sequence, key, null, attempts, createdAt, "it was damaged")
          : StoredMessage.of(sequence, attempts, createdAt, content);
    }

    private Instant expiresAt() {
      return content == null ? null : content.expiresAt();
    }

    private StoredMessage stored(Instant now) {
      boolean expired = expiresAt() != null && !expiresAt().isAfter(now);
      return expired ? stored().asExpired() : stored();
    }
  }

  private static final class Bucket {
    private UUID claimId;
    private String worker;
    private long token;
    private Instant leasedAt;
    private Instant leaseUntil;
    private Instant servedAt = Instant.EPOCH;
    private int takeovers;
    private int singles;
    private Object state = new Object();

    private boolean isFree(Instant now) {
      return leaseUntil == null
          || !leaseUntil.isAfter(now)
          || Duration.between(now, leasedAt).compareTo(Duration.between(leasedAt, leaseUntil)) > 0;
    }

    /** What was served in the future was served before the clock was put back. */
    private Instant lastServed(Instant now) {
      return servedAt.isAfter(now) ? Instant.EPOCH : servedAt;
    }

    private void leaseFor(Duration lease, Instant now) {
      leasedAt = now;
      leaseUntil = now.plus(lease);
    }
  }

  private static final class BlockedKey {
    private final String name;
    private Instant retryAt;
    private Long haltedBy;
    private long lowSequence;

    private BlockedKey(String name, long lowSequence) {
      this.name = name;
      this.lowSequence = lowSequence;
    }

    private boolean isDue(Instant now) {
      return haltedBy == null && !retryAt.isAfter(now);
    }
  }

  private record Taken(Producer by, Instant at) {}

  private final boolean leasesApart;
  private final TreeMap<Long, Message> messages = new TreeMap<>();
  private final Map<Integer, Bucket> buckets = new TreeMap<>();
  private final Map<String, BlockedKey> blockedKeys = new TreeMap<>();
  private final Map<String, Taken> dedup = new HashMap<>();
  private final Map<String, Pause> pauses = new HashMap<>();
  private Duration clockMoved = Duration.ZERO;
  private long lastSequence;
  private boolean replyLost;

  /** 0 when there is no schema. */
  int schemaVersion = VERSION;

  /**
   * @param leasesApart as where {@link Leases#leasesInTransaction} is false
   */
  MapDatabase(boolean leasesApart) {
    this.leasesApart = leasesApart;
    putBackBuckets();
  }

  synchronized void moveClock(Duration by) {
    clockMoved = clockMoved.plus(by);
  }

  synchronized void emptyInternalRows() {
    buckets.clear();
    blockedKeys.clear();
  }

  /** As it was in the beginning; the sequence goes on. */
  synchronized void clear() {
    emptyInternalRows();
    putBackBuckets();
    messages.clear();
    dedup.clear();
    pauses.clear();
    clockMoved = Duration.ZERO;
    schemaVersion = VERSION;
  }

  /** As TRUNCATE by somebody else: what is appended next has the sequences of what is gone. */
  synchronized void restartSequence() {
    messages.clear();
    lastSequence = 0;
  }

  private Instant now() {
    return Instant.now().plus(clockMoved);
  }

  static int bucket(String key) {
    return Math.floorMod(key.hashCode(), Database.BUCKETS);
  }

  Database<MapDatabase> asked() {
    return new Database<>(this, this, this, this, this);
  }

  // ---- producers

  synchronized Producer begin() {
    Producer producer = new Producer();
    return producer;
  }

  synchronized void commit(Producer producer) {
    producer.messages.forEach(message -> messages.put(message.sequence, message));
    end(producer);
  }

  synchronized void rollback(Producer producer) {
    dedup.values().removeIf(taken -> taken.by == producer);
    end(producer);
  }

  private void end(Producer producer) {
    producer.ended = true;
    notifyAll();
  }

  synchronized Set<UUID> append(Producer producer, List<OutboxMessage> appended, Duration window) {
    checkSchema();
    if (producer.ended) {
      throw new NoTransactionException("the transaction has ended: append in an open one");
    }
    Set<String> fresh = new HashSet<>();
    for (String key : Deduplicated.keys(appended)) {
      if (take(key, producer, window)) {
        fresh.add(key);
      }
    }
    Deduplicated deduplicated = Deduplicated.of(appended, fresh);
    for (OutboxMessage message : deduplicated.fresh()) {
      insert(producer, message.key(), message);
      Message last = producer.messages.get(producer.messages.size() - 1);
      last.status = last.isDue(last.createdAt) ? Status.PENDING : Status.SCHEDULED;
    }
    return deduplicated.duplicates();
  }

  /** False when it was taken within the window; waits for the end of another that has it now. */
  private boolean take(String key, Producer producer, Duration window) {
    Taken first = dedup.get(key);
    while (first != null && first.by != producer && !first.by.ended) {
      awaitEndOfATransaction();
      first = dedup.get(key);
    }
    boolean fresh = first == null || first.at.isBefore(now().minus(window));
    if (fresh) {
      dedup.put(key, new Taken(producer, now()));
    }
    return fresh;
  }

  @SuppressWarnings("WaitNotInLoop") // the caller looks again
  private void awaitEndOfATransaction() {
    try {
      wait();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * As by plain SQL.
   *
   * @param content null for a row that cannot be decoded
   */
  synchronized void insert(Producer producer, String key, OutboxMessage content) {
    Instant now = now();
    OutboxMessage dated = content == null ? null : content.appendedAt(now);
    producer.messages.add(new Message(++lastSequence, key, now, dated));
  }

  // ---- the store's transactions

  /** Nobody hears of the end of the next one. */
  synchronized void loseReply() {
    replyLost = true;
  }

  @Override
  public synchronized <R> R run(Duration patience, Work<MapDatabase, R> work) {
    checkSchema();
    R result = work.in(this);
    if (replyLost) {
      replyLost = false;
      throw new TransientOutboxException("the reply was lost", null);
    }
    return result;
  }

  synchronized void checkSchema() {
    if (schemaVersion == 0) {
      throw SchemaVersion.missing("map", SchemaVersion.MIGRATE, null);
    }
    SchemaVersion.check("map", schemaVersion, VERSION, SchemaVersion.MIGRATE);
  }

  @Override
  public boolean leasesInTransaction() {
    return !leasesApart;
  }

  // ---- leases

  @Override
  public List<Lease> lease(MapDatabase handle, UUID claimId, Claim.Request request, int most) {
    Instant now = now();
    List<Integer> candidates = new ArrayList<>();
    FairShare share = new FairShare(request.worker());
    buckets.forEach(
        (number, bucket) -> {
          if (!bucket.isFree(now)) {
            share.leased(bucket.worker);
          } else if (hasPending(number) || hasScheduled(number, now) || hasBlocked(number, now)) {
            share.free();
            candidates.add(number);
          }
        });
    candidates.sort(Comparator.comparing(number -> buckets.get(number).lastServed(now)));
    List<ServedLease> leased =
        ServedLease.upTo(
            share.of(most),
            candidates,
            some -> some.stream().map(number -> lease(number, claimId, request, now)).toList());
    return ServedLease.inTurn(leased);
  }

  private ServedLease lease(int number, UUID claimId, Claim.Request request, Instant now) {
    Bucket bucket = buckets.get(number);
    if (bucket.claimId != null) {
      boolean suspicious = bucket.takeovers >= SUSPICIOUS;
      bucket.singles = suspicious ? request.maxMessages() : bucket.singles;
      bucket.takeovers = suspicious ? 0 : bucket.takeovers + 1;
    }
    bucket.token++;
    bucket.claimId = claimId;
    bucket.worker = request.worker();
    bucket.leaseFor(request.lease(), now);
    return new ServedLease(
        bucket.lastServed(now),
        new Lease(
            number,
            bucket.token,
            newState(bucket),
            hasScheduled(number, now),
            hasBlocked(number, now),
            bucket.singles > 0,
            request.lease(),
            0,
            System.nanoTime()));
  }

  private static Object newState(Bucket bucket) {
    bucket.state = new Object();
    return bucket.state;
  }

  private void checkState(Lease lease) {
    if (lease.state() != buckets.get(lease.bucket()).state) {
      throw new IllegalStateException("the state of " + lease + " is not the last one");
    }
  }

  private boolean isHeld(UUID claimId, Lease lease) {
    Bucket bucket = buckets.get(lease.bucket());
    return bucket != null && claimId.equals(bucket.claimId) && bucket.token == lease.token();
  }

  @Override
  public Set<Integer> renew(
      MapDatabase handle, UUID claimId, Collection<Lease> leases, Duration lease) {
    List<Lease> held = leases.stream().filter(l -> isHeld(claimId, l)).toList();
    held.forEach(l -> buckets.get(l.bucket()).leaseFor(lease, now()));
    return held.stream().map(Lease::bucket).collect(Collectors.toSet());
  }

  @Override
  public List<Lease> lockHeld(MapDatabase handle, UUID claimId, Collection<Lease> leases) {
    Instant now = now();
    return leases.stream()
        .filter(lease -> isHeld(claimId, lease))
        .map(
            lease -> {
              // Of a settle whose reply was lost the caller has no newer one.
              Bucket bucket = buckets.get(lease.bucket());
              return lease.goesOn(
                  Duration.between(now, bucket.leaseUntil),
                  hasScheduled(lease.bucket(), now),
                  hasBlocked(lease.bucket(), now),
                  newState(bucket));
            })
        .toList();
  }

  @Override
  public void release(MapDatabase handle, UUID claimId, List<Release> releases) {
    for (Release release : releases) {
      Bucket bucket = buckets.get(release.lease().bucket());
      if (bucket != null && claimId.equals(bucket.claimId)) {
        checkState(release.lease());
        bucket.claimId = null;
        bucket.leasedAt = null;
        bucket.leaseUntil = null;
        bucket.servedAt = release.keepsTurn() ? bucket.servedAt : now();
        bucket.takeovers = release.settled() ? 0 : bucket.takeovers;
        bucket.singles = Math.max(0, bucket.singles - release.decided());
      }
    }
  }

  // ---- reads

  private Stream<Message> in(int bucket, Status status, long from) {
    return messages.tailMap(from).values().stream()
        .filter(message -> message.status == status && bucket(message.key) == bucket);
  }

  private boolean hasPending(int bucket) {
    return in(bucket, Status.PENDING, 0).findAny().isPresent();
  }

  private boolean hasScheduled(int bucket, Instant now) {
    return in(bucket, Status.SCHEDULED, 0).anyMatch(message -> message.isDue(now));
  }

  private boolean hasBlocked(int bucket, Instant now) {
    return blockedKeys.values().stream()
        .anyMatch(key -> bucket(key.name) == bucket && key.isDue(now));
  }

  @Override
  public Pending readPending(MapDatabase handle, List<Lease> leases, Limits limits) {
    ReadBudget room = new ReadBudget(leases, limits);
    Instant now = now();
    List<Row> rows = new ArrayList<>();
    for (Lease lease : leases) {
      in(lease.bucket(), Status.PENDING, 0)
          .map(message -> message.isDue(now) ? row(message) : toMove(message, Status.SCHEDULED))
          .takeWhile(
              row -> room.take(row.bucket(), row instanceof Claimable c ? c.payloadSize() : 0))
          .forEach(rows::add);
    }
    leases.forEach(this::checkState);
    return new Pending(
        rows, leases.stream().map(l -> l.with(newState(buckets.get(l.bucket())))).toList());
  }

  @Override
  public List<Row> readScheduled(MapDatabase handle, List<Lease> leases, Limits limits) {
    ReadBudget room = new ReadBudget(leases, limits);
    Instant now = now();
    List<Row> rows = new ArrayList<>();
    for (Lease lease : leases) {
      in(lease.bucket(), Status.SCHEDULED, 0)
          .filter(message -> message.isDue(now))
          .sorted(Comparator.comparing((Message message) -> message.availableAt))
          .map(this::row)
          .takeWhile(
              row -> room.take(row.bucket(), row instanceof Claimable c ? c.payloadSize() : 0))
          .forEach(rows::add);
    }
    return rows;
  }

  private Row row(Message message) {
    return blockedKeys.containsKey(message.key)
        ? toMove(message, Status.BLOCKED)
        : claimable(message);
  }

  private static ToMove toMove(Message message, Status target) {
    return new ToMove(
        bucket(message.key), message.sequence, message.key, message.status, message.id, target);
  }

  private Claimable claimable(Message message) {
    return new Claimable(
        bucket(message.key),
        message.sequence,
        message.key,
        message.status,
        message.id,
        message.stored(now()),
        message.availableAt);
  }

  @Override
  public List<Row> readBlocked(MapDatabase handle, List<Lease> leases, Limits limits) {
    ReadBudget room = new ReadBudget(leases, limits);
    List<Row> rows = new ArrayList<>();
    for (Lease lease : leases) {
      List<BlockedKey> due =
          blockedKeys.values().stream()
              .filter(key -> bucket(key.name) == lease.bucket() && key.isDue(now()))
              .sorted(Comparator.comparing(key -> key.retryAt))
              .limit(lease.single() ? 1 : limits.messages())
              .toList();
      for (BlockedKey key : due) {
        List<Message> waiting = waiting(key);
        if (waiting.isEmpty()) {
          rows.add(new EmptyKey(lease.bucket(), key.lowSequence, key.name));
        }
        boolean alone = !waiting.isEmpty() && waiting.get(0).failedAt != null;
        waiting.stream()
            .limit(alone ? 1 : Math.max(1, limits.messages() / due.size()))
            .takeWhile(message -> room.take(lease.bucket(), message.size()))
            .forEach(message -> rows.add(claimable(message)));
      }
    }
    return rows;
  }

  /** In sequence order. */
  private List<Message> waiting(BlockedKey key) {
    return in(bucket(key.name), Status.BLOCKED, key.lowSequence)
        .filter(message -> message.key.equals(key.name))
        .toList();
  }

  // ---- writes

  private Message find(OfMessage row) {
    Message message = messages.get(row.sequence());
    return message != null && message.id.equals(row.id()) ? message : null;
  }

  @Override
  public void move(MapDatabase handle, Collection<ToMove> rows) {
    for (ToMove row : rows) {
      Message message = find(row);
      if (message != null && message.status == row.status()) {
        message.status = row.target();
      }
    }
  }

  @Override
  public void count(MapDatabase handle, Collection<Claimable> rows, int by) {
    for (Claimable row : rows) {
      Message message = find(row);
      if (message != null && message.status != Status.DEAD) {
        message.attempts = Math.max(0, Math.min(message.attempts, Integer.MAX_VALUE - 1) + by);
      }
    }
  }

  @Override
  public List<Lease> delete(
      MapDatabase handle, Collection<Lease> leases, Collection<Claimable> delivered) {
    for (Claimable row : delivered) {
      if (find(row) != null) {
        messages.remove(row.sequence());
      }
    }
    return List.copyOf(leases);
  }

  @Override
  public Set<Long> fail(MapDatabase handle, List<Failure> failures) {
    Set<Long> changed = new HashSet<>();
    for (Failure failure : failures) {
      Message message = find(failure.row());
      if (message != null
          && message.status != Status.DEAD
          && message.attempts == failure.attempts()
          && Objects.equals(message.availableAt, failure.row().availableAt())) {
        message.status = failure.status();
        message.attempts = failure.attemptsAfter();
        message.error = failure.error();
        message.failedAt = now();
        changed.add(message.sequence);
      }
    }
    return changed;
  }

  @Override
  public void expire(MapDatabase handle, Collection<Claimable> expired) {
    expired.forEach(row -> messages.remove(row.sequence()));
  }

  @Override
  public void block(MapDatabase handle, List<Block> blocks) {
    for (Block block : blocks) {
      BlockedKey key =
          blockedKeys.computeIfAbsent(
              block.key(), name -> new BlockedKey(name, block.lowSequence()));
      key.retryAt = now().plus(block.delay());
      key.haltedBy = block.halted() ? Long.valueOf(block.sequence()) : key.haltedBy;
      key.lowSequence = Math.min(key.lowSequence, block.lowSequence());
    }
  }

  @Override
  public void lower(MapDatabase handle, List<Key> keys) {
    for (Key lower : keys) {
      BlockedKey key = blockedKeys.get(lower.key());
      if (key != null) {
        key.lowSequence = Math.min(key.lowSequence, lower.sequence());
      }
    }
  }

  @Override
  public void advance(MapDatabase handle, Collection<Key> keys) {
    for (Key advanced : keys) {
      BlockedKey key = blockedKeys.get(advanced.key());
      if (key == null || key.haltedBy != null) {
        continue;
      }
      List<Message> waiting = waiting(key);
      if (waiting.isEmpty()) {
        blockedKeys.remove(key.name);
      } else {
        key.retryAt = now();
        key.lowSequence = waiting.get(0).sequence;
      }
    }
  }

  // ---- people look

  @Override
  public Page<Listed> messages(MapDatabase handle, Query query) {
    List<Listed> found =
        messages.tailMap(query.afterSequence(), false).values().stream()
            .map(this::listed)
            .filter(query::includes)
            .limit(query.limit())
            .toList();
    boolean isFull = found.size() == query.limit();
    return new Page<>(
        found, isFull ? String.valueOf(found.get(found.size() - 1).sequence()) : null);
  }

  private Listed listed(Message message) {
    OutboxMessage content = message.content;
    return new Listed(
        message.sequence,
        String.valueOf(content == null ? message.id : content.id()),
        message.status,
        message.key,
        content == null ? null : content.aggregateType(),
        content == null ? null : content.eventType(),
        content == null ? null : content.dedupKey(),
        message.attempts,
        message.createdAt,
        message.availableAt,
        message.expiresAt(),
        message.error,
        message.failedAt,
        halted().containsValue(message.sequence));
  }

  @Override
  public Optional<Inspected> message(MapDatabase handle, long sequence) {
    return Optional.ofNullable(messages.get(sequence))
        .map(
            message ->
                Inspected.of(
                    listed(message), message.stored(), waitingKey(blockedKeys.get(message.key))));
  }

  private WaitingKey waitingKey(BlockedKey key) {
    if (key == null) {
      return null;
    }
    List<Message> blocked = waiting(key);
    Message behind =
        key.haltedBy != null
            ? messages.get(key.haltedBy)
            : blocked.stream().findFirst().orElse(null);
    return behind == null
        ? null
        : new WaitingKey(
            key.name,
            behind.sequence,
            key.haltedBy != null,
            key.haltedBy == null ? key.retryAt : null,
            (int) blocked.stream().filter(message -> message != behind).count(),
            behind.attempts,
            behind.error);
  }

  @Override
  public Page<WaitingKey> waitingKeys(MapDatabase handle, boolean halted, String after, int limit) {
    String last = KeyCursor.of(after).key();
    List<WaitingKey> found =
        blockedKeys.values().stream()
            .sorted(Comparator.comparing(key -> key.name))
            .filter(key -> after == null || key.name.compareTo(last) > 0)
            .map(this::waitingKey)
            .filter(key -> key != null && (key.halted() || !halted))
            .limit(limit)
            .toList();
    return new Page<>(
        found,
        found.size() == limit ? new KeyCursor(0, 0, found.get(limit - 1).key()).toString() : null);
  }

  // ---- people decide, and housekeeping

  private Message deadLetter(long sequence) {
    Message message = messages.get(sequence);
    return message != null && message.status == Status.DEAD ? message : null;
  }

  @Override
  public List<DeadLetter> deadLetters(MapDatabase handle, long afterSequence, int limit) {
    return messages.tailMap(afterSequence, false).values().stream()
        .filter(message -> message.status == Status.DEAD)
        .limit(limit)
        .map(
            message ->
                new DeadLetter(
                    message.stored(),
                    message.error,
                    message.failedAt,
                    halted().containsValue(message.sequence)))
        .toList();
  }

  /** The dead letter of each key that is halted. */
  private Map<String, Long> halted() {
    Map<String, Long> halted = new TreeMap<>();
    blockedKeys.forEach(
        (name, key) -> {
          if (key.haltedBy != null) {
            halted.put(name, key.haltedBy);
          }
        });
    return halted;
  }

  private boolean unhalt(String name, long by, long lowSequence) {
    BlockedKey key = blockedKeys.get(name);
    if (key == null || !Objects.equals(key.haltedBy, by)) {
      return false;
    }
    key.haltedBy = null;
    key.retryAt = now();
    key.lowSequence = Math.min(key.lowSequence, lowSequence);
    return true;
  }

  @Override
  public Set<Long> requeue(MapDatabase handle, Set<Long> sequences, @Nullable Who by) {
    return decide(
        sequences,
        dead -> {
          boolean unhalted = unhalt(dead.key, dead.sequence, dead.sequence);
          dead.status = unhalted ? Status.BLOCKED : Status.SCHEDULED;
          dead.availableAt = now();
          dead.attempts = 0;
          dead.failedAt = null;
        });
  }

  @Override
  public Set<Long> discard(MapDatabase handle, Set<Long> sequences, @Nullable Who by) {
    return decide(
        sequences,
        dead -> {
          unhalt(dead.key, dead.sequence, Long.MAX_VALUE);
          messages.remove(dead.sequence);
        });
  }

  @Override
  public Set<Long> cancel(MapDatabase handle, Set<Long> sequences, @Nullable Who by) {
    Set<Long> undue = new HashSet<>(sequences);
    undue.removeIf(one -> !messages.containsKey(one) || !messages.get(one).isUndue(now()));
    messages.keySet().removeAll(undue);
    return undue;
  }

  private Set<Long> decide(Set<Long> sequences, Consumer<Message> decide) {
    Set<Long> decided = new HashSet<>();
    for (long sequence : sequences) {
      Message dead = deadLetter(sequence);
      if (dead != null) {
        decide.accept(dead);
        decided.add(sequence);
      }
    }
    return decided;
  }

  @Override
  public void pause(MapDatabase handle, String name, Who by) {
    pauses.put(name, new Pause(PauseStore.typeOf(name), now(), by.name(), by.reason()));
  }

  @Override
  public boolean resume(MapDatabase handle, String name) {
    return pauses.remove(name) != null;
  }

  @Override
  public List<Pause> pauses(MapDatabase handle) {
    return List.copyOf(pauses.values());
  }

  @Override
  public List<Archived> archived(MapDatabase handle, Search search, int limit) {
    throw new SchemaException("there is no archive");
  }

  @Override
  public Statistics statistics(MapDatabase handle, int cap, @Nullable Integer relays) {
    return new Statistics(
        cap,
        Math.min(cap, count(Status.PENDING)),
        Math.min(cap, count(Status.SCHEDULED)),
        Math.min(cap, count(Status.BLOCKED)),
        Math.min(cap, count(Status.DEAD)),
        Math.min(cap, countKeys(key -> key.haltedBy == null)),
        Math.min(cap, countKeys(key -> key.haltedBy != null)),
        oldest(EnumSet.of(Status.PENDING, Status.SCHEDULED)),
        oldest(EnumSet.of(Status.BLOCKED)),
        relays);
  }

  private @Nullable Duration oldest(Set<Status> among) {
    Instant now = now();
    return messages.values().stream()
        .filter(message -> among.contains(message.status) && message.isDue(now))
        .map(message -> Objects.requireNonNullElse(message.availableAt, message.createdAt))
        .min(Comparator.naturalOrder())
        .map(oldest -> Duration.between(oldest, now))
        .orElse(null);
  }

  @Override
  public List<WorkerLease> leases(MapDatabase handle) {
    Map<String, List<Bucket>> byRelay =
        buckets.values().stream()
            .filter(bucket -> !bucket.isFree(now()))
            .collect(
                Collectors.groupingBy(bucket -> bucket.worker, TreeMap::new, Collectors.toList()));
    return byRelay.entrySet().stream()
        .map(
            held ->
                new WorkerLease(
                    held.getKey(),
                    held.getValue().size(),
                    held.getValue().stream()
                        .map(b -> b.leasedAt)
                        .min(Comparator.naturalOrder())
                        .orElseThrow(),
                    held.getValue().stream()
                        .map(b -> b.leaseUntil)
                        .max(Comparator.naturalOrder())
                        .orElseThrow()))
        .toList();
  }

  private long count(Status status) {
    return messages.values().stream().filter(message -> message.status == status).count();
  }

  private long countKeys(Predicate<BlockedKey> which) {
    return blockedKeys.values().stream().filter(which).count();
  }

  @Override
  public void freeHaltedByNothing(MapDatabase handle) {
    for (BlockedKey key : blockedKeys.values()) {
      if (key.haltedBy != null && deadLetter(key.haltedBy) == null) {
        unhalt(key.name, key.haltedBy, Long.MAX_VALUE);
      }
    }
  }

  @Override
  public boolean restore(MapDatabase handle) {
    boolean missing = buckets.size() < Database.BUCKETS;
    if (missing) {
      putBackBuckets();
    }
    return missing;
  }

  @Override
  public void restoreBlockedKeys(MapDatabase handle, List<Integer> only) {
    for (Message message : messages.values()) {
      if (message.status == Status.BLOCKED && only.contains(bucket(message.key))) {
        BlockedKey key =
            blockedKeys.computeIfAbsent(
                message.key, name -> new BlockedKey(name, message.sequence));
        key.retryAt = key.retryAt == null ? now() : key.retryAt;
        key.lowSequence = Math.min(key.lowSequence, message.sequence);
      }
    }
  }

  private void putBackBuckets() {
    IntStream.range(0, Database.BUCKETS)
        .forEach(number -> buckets.computeIfAbsent(number, n -> new Bucket()));
  }

  @Override
  public boolean purgeDedup(MapDatabase handle, Duration window) {
    Instant oldest = now().minus(window);
    dedup.values().removeIf(taken -> taken.by.ended && taken.at.isBefore(oldest));
    return false;
  }
}
