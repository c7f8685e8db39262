package dev.outbox.store.core.internal;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.store.core.internal.Database.Key;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Look;
import dev.outbox.store.core.internal.Database.Pending;
import dev.outbox.store.core.internal.Database.Release;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.core.internal.Row.ToMove;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Reads the first due messages of leased buckets, moves out of the way at once what must move, and
 * chooses a batch. PENDING messages get at least half of it; due SCHEDULED ones and blocked keys
 * share the rest, so that neither failing heads nor a backlog can eat every batch (C6).
 */
final class BatchReader<H> {
  private static final List<Status> KINDS =
      List.of(Status.PENDING, Status.SCHEDULED, Status.BLOCKED);

  private static final int LEAST_BUCKETS = 4;
  private static final int LARGE = OutboxMessage.MAX_PAYLOAD / 2;

  private final H handle;
  private final Database<H> database;
  private final UUID claimId;
  private final ClaimRequest request;
  private final boolean keeps;

  /** By bucket, those whose turn comes first in front. */
  private final Map<Integer, Lease> leases = new LinkedHashMap<>();

  /** Of each kind, what may be claimed: by bucket and in order. */
  private final Map<Status, Map<Integer, List<Claimable>>> kinds = new EnumMap<>(Status.class);

  private final Set<Integer> moved = new HashSet<>();
  private final Set<Integer> more = new HashSet<>();
  private int found;
  private long bytes;

  /** Whether nothing was locked, so that nothing can be given back. */
  private boolean onlyLooked;

  /**
   * @param keeps whether buckets without messages are kept
   */
  BatchReader(H handle, Database<H> database, UUID claimId, ClaimRequest request, boolean keeps) {
    this.handle = handle;
    this.database = database;
    this.claimId = claimId;
    this.request = request;
    this.keeps = keeps;
    KINDS.forEach(kind -> kinds.put(kind, new HashMap<>()));
  }

  /**
   * What a claim found in the buckets it leased.
   *
   * @param leases those that brought messages, or from which something was moved away
   * @param idle those that brought nothing and are kept; the others were given back already
   * @param rows the messages claimed, in sequence order
   * @param more the buckets that probably have more messages that are due
   * @param alone whether it is known that other buckets had nothing
   * @param pollAgain whether there may be more at this moment
   */
  record Batch(
      List<Lease> leases,
      List<Lease> idle,
      List<Claimable> rows,
      Set<Integer> more,
      boolean alone,
      boolean pollAgain) {

    /**
     * Of the next claim, when it does not look for messages because these were settled and their
     * buckets are kept.
     */
    Batch unread(boolean moreIsDue) {
      return new Batch(List.of(), List.of(), List.of(), Set.of(), false, moreIsDue || !alone);
    }
  }

  /** Whether more buckets should be read: less than half of a batch was found. */
  boolean hasRoom() {
    return found < ceil(request.maxMessages(), 2) && bytes < ceil(request.maxBytes(), 2);
  }

  /** How many messages there is room for. */
  int room() {
    return request.maxMessages() - found;
  }

  /**
   * How many buckets are worth reading. Each should have a message; and as one of each is read
   * whatever its size, they are no more than large messages have room for, so that what is read
   * stays within a few times the bytes that were asked for.
   */
  int roomForBuckets() {
    long large = Math.max(LEAST_BUCKETS, (request.maxBytes() - bytes) / LARGE);
    return (int) Math.min(room(), large);
  }

  /** How many of the buckets that were read are of use; the others are given back. */
  int used() {
    return (int) leases.keySet().stream().filter(this::isUsed).count();
  }

  private boolean isUsed(int bucket) {
    return moved.contains(bucket)
        || kinds.values().stream()
            .anyMatch(kind -> !kind.getOrDefault(bucket, List.of()).isEmpty());
  }

  /**
   * Looks at buckets that were kept.
   *
   * @return what was found, or empty when only a close look can tell what there is
   */
  Optional<Look> look(List<Lease> kept) {
    onlyLooked = true;
    Limits limits = limits(kept, room());
    Look look = database.reads().look(handle, claimId, kept, limits);
    Pending pending = look.pending();
    if (!look.sure() || !pending.rows().stream().allMatch(Claimable.class::isInstance)) {
      return Optional.empty();
    }
    pending.leases().forEach(lease -> leases.put(lease.bucket(), lease));
    take(Status.PENDING, pending.rows(), limits);
    return Optional.of(look);
  }

  /**
   * @param longestUnserved longest unserved first
   */
  void read(List<Lease> longestUnserved) {
    if (longestUnserved.isEmpty()) {
      return;
    }
    int most = room();
    List<Lease> scheduledDue = longestUnserved.stream().filter(Lease::scheduled).toList();
    List<Lease> blockedDue = longestUnserved.stream().filter(Lease::blocked).toList();
    int reserved = (scheduledDue.isEmpty() ? 0 : most / 4) + (blockedDue.isEmpty() ? 0 : most / 4);
    int before = found;
    readPending(longestUnserved, most - reserved);
    int rest = most - (found - before);
    readScheduled(scheduledDue, blockedDue.isEmpty() ? rest : ceil(rest, 2));
    // After the moves: what they added to a blocked key is taken along at its place.
    readBlocked(blockedDue, most - (found - before));
  }

  private void readPending(List<Lease> from, int most) {
    Limits limits = limits(from, most);
    Pending pending = database.reads().readPending(handle, from, limits);
    pending.leases().forEach(lease -> leases.put(lease.bucket(), lease));
    take(Status.PENDING, pending.rows(), limits);
  }

  private void readScheduled(List<Lease> from, int most) {
    if (!from.isEmpty()) {
      Limits limits = limits(from, most);
      take(Status.SCHEDULED, database.reads().readScheduled(handle, from, limits), limits);
    }
  }

  private void readBlocked(List<Lease> from, int most) {
    if (!from.isEmpty()) {
      Limits limits = limits(from, most);
      List<Row> rows = database.reads().readBlocked(handle, from, limits);
      take(Status.BLOCKED, rows, limits);
      // When these were delivered their key is due again, with all that follows them.
      rows.forEach(row -> more.add(row.bucket()));
    }
  }

  private Limits limits(List<Lease> from, int most) {
    return new Limits(
        ceil(Math.max(1, most), from.size()), Math.max(1, request.maxBytes() / from.size()));
  }

  private void take(Status kind, List<Row> rows, Limits limits) {
    List<ToMove> moves = new ArrayList<>();
    List<Key> empty = new ArrayList<>();
    Map<Integer, Integer> rowsOf = new HashMap<>();
    Map<Integer, Long> bytesOf = new HashMap<>();
    for (Row row : rows) {
      rowsOf.merge(row.bucket(), 1, Integer::sum);
      if (row instanceof Claimable claimable) {
        of(kind).computeIfAbsent(row.bucket(), bucket -> new ArrayList<>()).add(claimable);
        bytesOf.merge(row.bucket(), (long) claimable.payloadSize(), Long::sum);
        bytes += claimable.payloadSize();
        found++;
      } else if (row instanceof ToMove move) {
        moves.add(move);
      } else {
        empty.add(Key.of(row));
      }
    }
    rowsOf.forEach(
        (bucket, count) -> {
          if (count >= limits.messages() || bytesOf.getOrDefault(bucket, 0L) > limits.bytes() / 2) {
            more.add(bucket);
          }
        });
    if (!moves.isEmpty()) {
      move(moves);
    }
    if (!empty.isEmpty()) {
      database.writes().advance(handle, empty);
      empty.forEach(key -> moved.add(key.bucket()));
    }
  }

  private Map<Integer, List<Claimable>> of(Status kind) {
    return kinds.getOrDefault(kind, Map.of());
  }

  private void move(List<ToMove> moves) {
    database.writes().move(handle, moves);
    Map<String, Key> lowest = new HashMap<>();
    for (ToMove move : moves) {
      moved.add(move.bucket());
      if (move.target() == Status.BLOCKED) {
        lowest.merge(move.key(), Key.of(move), (a, b) -> a.sequence() <= b.sequence() ? a : b);
      }
    }
    database.writes().lower(handle, List.copyOf(lowest.values()));
  }

  /**
   * Chooses what fits, and gives back the buckets that nothing was taken from, unless they are
   * kept.
   *
   * @param moreElsewhere whether buckets that probably have more were not read
   */
  Batch choose(boolean moreElsewhere) {
    List<Claimable> inTurn = inTurn();
    List<Claimable> rows = chosen(inTurn);
    Set<Integer> served = rows.stream().map(Row::bucket).collect(Collectors.toSet());
    Set<Integer> cut = inTurn.stream().map(Row::bucket).collect(Collectors.toSet());
    cut.removeAll(served);
    List<Lease> used = new ArrayList<>();
    List<Lease> idle = new ArrayList<>();
    List<Release> unused = new ArrayList<>();
    for (Lease lease : leases.values()) {
      int bucket = lease.bucket();
      if (served.contains(bucket) || moved.contains(bucket)) {
        used.add(lease);
      } else if (onlyLooked || isKept(lease) && !cut.contains(bucket)) {
        idle.add(lease);
      } else {
        unused.add(new Release(lease, 0, lease.batches() > 0, cut.contains(bucket)));
      }
    }
    if (!unused.isEmpty()) {
      database.leases().release(handle, claimId, unused);
    }
    count(rows, used);
    more.addAll(moved);
    return new Batch(
        used,
        idle,
        rows.stream().sorted(Comparator.comparingLong(Claimable::sequence)).toList(),
        Set.copyOf(more),
        onlyLooked && !moreElsewhere,
        moreElsewhere || !moved.isEmpty() || rows.size() < found);
  }

  private boolean isKept(Lease lease) {
    return keeps && lease.batches() > 0 && !lease.single();
  }

  /** An attempt is counted before it is made where the attempt may end the process (S6). */
  private void count(List<Claimable> rows, List<Lease> used) {
    Set<Integer> single = singles(used);
    List<Claimable> counted = rows.stream().filter(row -> single.contains(row.bucket())).toList();
    if (!counted.isEmpty()) {
      database.writes().count(handle, counted, 1);
    }
  }

  /**
   * The order in which messages get a place: kind by kind, which one is first changes from batch to
   * batch, and of a kind those of the buckets first that have waited longest, because what does not
   * fit is cut off at the end (C6).
   */
  private List<Claimable> inTurn() {
    long turn =
        leases.values().stream().mapToLong(l -> l.token() + l.batches()).findFirst().orElse(0);
    List<Status> turns = new ArrayList<>(KINDS);
    Collections.rotate(turns, -(int) (turn % turns.size()));
    List<Claimable> inTurn = new ArrayList<>(found);
    for (Status kind : turns) {
      for (Integer bucket : leases.keySet()) {
        inTurn.addAll(of(kind).getOrDefault(bucket, List.of()));
      }
    }
    return inTurn;
  }

  private List<Claimable> chosen(List<Claimable> inTurn) {
    Set<Integer> single = singles(leases.values());
    Set<Integer> singleTaken = new HashSet<>();
    Set<Long> sequences = new HashSet<>();
    List<Claimable> chosen = new ArrayList<>();
    long size = 0;
    for (Claimable row : inTurn) {
      size += row.payloadSize();
      if (chosen.size() == request.maxMessages()
          || (size > request.maxBytes() && !chosen.isEmpty())
          // Plain SQL may have given one twice, and decisions are by sequence.
          || !sequences.add(row.sequence())) {
        break;
      }
      if (!single.contains(row.bucket()) || singleTaken.add(row.bucket())) {
        chosen.add(row);
      }
    }
    return chosen;
  }

  private static Set<Integer> singles(Collection<Lease> of) {
    return of.stream().filter(Lease::single).map(Lease::bucket).collect(Collectors.toSet());
  }

  private static int ceil(int a, int b) {
    return (a + b - 1) / b;
  }

  private static long ceil(long a, int b) {
    return a / b + (a % b == 0 ? 0 : 1);
  }
}
