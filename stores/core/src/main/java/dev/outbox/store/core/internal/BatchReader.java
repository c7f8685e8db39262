package dev.outbox.store.core.internal;

import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Database.Key;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Look;
import dev.outbox.store.core.internal.Database.Pending;
import dev.outbox.store.core.internal.Database.Release;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.core.internal.Row.ToMove;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

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
  private final Claim.Request request;

  /** The leased buckets, those whose turn comes first in front. */
  private final List<Bucket> buckets = new ArrayList<>();

  private final @Nullable Bucket[] byNumber = new Bucket[Database.BUCKETS];

  private final Set<Integer> more = new HashSet<>();
  private int found;
  private long bytes;

  BatchReader(H handle, Database<H> database, Claim.Request request) {
    this.handle = handle;
    this.database = database;
    this.request = request;
  }

  /** A bucket with the messages in it that may be claimed: in order, for each kind. */
  private static final class Bucket {
    private final Lease lease;
    private final Map<Status, List<Claimable>> kinds = new EnumMap<>(Status.class);
    private boolean moved;
    private boolean served;

    Bucket(Lease lease) {
      this.lease = lease;
      KINDS.forEach(kind -> kinds.put(kind, new ArrayList<>()));
    }

    List<Claimable> of(Status kind) {
      return requireNonNull(kinds.get(kind));
    }

    boolean hasMessages() {
      return kinds.values().stream().anyMatch(kind -> !kind.isEmpty());
    }
  }

  private void add(List<Lease> leases) {
    for (Lease lease : leases) {
      Bucket bucket = new Bucket(lease);
      buckets.add(bucket);
      byNumber[lease.bucket()] = bucket;
    }
  }

  private Bucket of(Row row) {
    return requireNonNull(byNumber[row.bucket()], "a row of a bucket that was not leased");
  }

  /**
   * What a claim found in the buckets it leased.
   *
   * @param leases those that brought messages, or from which something was moved away
   * @param unused those that brought nothing, as they are to be given back
   * @param rows the messages claimed, in sequence order
   * @param more the buckets that probably have more messages that are due
   * @param pollAgain whether there may be more at this moment
   */
  record Batch(
      List<Lease> leases,
      List<Release> unused,
      List<Claimable> rows,
      Set<Integer> more,
      boolean pollAgain) {

    static Batch empty(boolean pollAgain) {
      return new Batch(List.of(), List.of(), List.of(), Set.of(), pollAgain);
    }

    /** With what has come meanwhile. */
    Batch and(boolean news) {
      return new Batch(leases, unused, rows, more, pollAgain || news);
    }
  }

  /** Whether more buckets should be read, because less than half of a batch was found. */
  boolean hasRoom() {
    return found < ceil(request.maxMessages(), 2) && bytes < ceil(request.maxBytes(), 2);
  }

  int room() {
    return request.maxMessages() - found;
  }

  /**
   * How many buckets are worth reading: no more than there is room for messages, and for large
   * ones. One message of each bucket is read whatever its size, and what is read should stay within
   * a few times the bytes that were asked for.
   */
  int roomForBuckets() {
    long large = Math.max(LEAST_BUCKETS, (request.maxBytes() - bytes) / LARGE);
    return (int) Math.min(room(), large);
  }

  /** How many of the buckets that were read are of use; the others are given back. */
  int used() {
    return (int) buckets.stream().filter(bucket -> bucket.moved || bucket.hasMessages()).count();
  }

  /**
   * Takes what a look found.
   *
   * @return false when only a locked read can tell what there is
   */
  boolean take(Look look, Limits limits) {
    if (!look.sure() || !look.pending().rows().stream().allMatch(Claimable.class::isInstance)) {
      return false;
    }
    add(look.pending().leases());
    take(Status.PENDING, look.pending().rows(), limits);
    return true;
  }

  /**
   * Reads PENDING, SCHEDULED and BLOCKED messages, in this order.
   *
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
    readPending(longestUnserved, most - reserved);
    readScheduled(scheduledDue, blockedDue.isEmpty() ? room() : (int) ceil(room(), 2));
    // After the moves: what they added to a blocked key is taken along at its place.
    readBlocked(blockedDue, room());
  }

  private void readPending(List<Lease> from, int most) {
    Limits limits = limits(from, most);
    Pending pending = database.reads().readPending(handle, from, limits);
    add(pending.leases());
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

  /** How much a look may bring of each of these buckets. */
  Limits limits(List<Lease> from) {
    return limits(from, room());
  }

  private Limits limits(List<Lease> from, int most) {
    return new Limits(
        (int) ceil(Math.max(1, most), from.size()), Math.max(1, request.maxBytes() / from.size()));
  }

  private void take(Status kind, List<Row> rows, Limits limits) {
    List<ToMove> moves = new ArrayList<>();
    List<Key> empty = new ArrayList<>();
    int[] rowsOf = new int[Database.BUCKETS];
    long[] bytesOf = new long[Database.BUCKETS];
    for (Row row : rows) {
      rowsOf[row.bucket()]++;
      if (row instanceof Claimable claimable) {
        int size = claimable.payloadSize();
        of(row).of(kind).add(claimable);
        bytesOf[row.bucket()] += size;
        bytes += size;
        found++;
      } else if (row instanceof ToMove move) {
        moves.add(move);
      } else {
        empty.add(Key.of(row));
      }
    }
    for (int bucket = 0; bucket < Database.BUCKETS; bucket++) {
      if (rowsOf[bucket] >= limits.messages() || bytesOf[bucket] > limits.bytes() / 2) {
        more.add(bucket);
      }
    }
    if (!moves.isEmpty()) {
      move(moves);
    }
    if (!empty.isEmpty()) {
      database.writes().advance(handle, empty);
      empty.forEach(key -> moved(key.bucket()));
    }
  }

  private void moved(int bucket) {
    requireNonNull(byNumber[bucket]).moved = true;
    more.add(bucket);
  }

  private void move(List<ToMove> moves) {
    database.writes().move(handle, moves);
    Map<String, Key> lowest = new HashMap<>();
    for (ToMove move : moves) {
      moved(move.bucket());
      if (move.target() == Status.BLOCKED) {
        lowest.merge(move.key(), Key.of(move), (a, b) -> a.sequence() <= b.sequence() ? a : b);
      }
    }
    database.writes().lower(handle, List.copyOf(lowest.values()));
  }

  /**
   * Chooses what fits.
   *
   * @param moreElsewhere whether buckets that probably have more were not read
   */
  Batch choose(boolean moreElsewhere) {
    List<Claimable> rows = inOrder(inTurn());
    List<Lease> used = new ArrayList<>();
    List<Release> unused = new ArrayList<>();
    boolean anyMoved = false;
    for (Bucket bucket : buckets) {
      Lease lease = bucket.lease;
      anyMoved |= bucket.moved;
      if (bucket.served || bucket.moved) {
        used.add(lease);
      } else {
        unused.add(new Release(lease, 0, lease.batches() > 0, bucket.hasMessages()));
      }
    }
    count(rows);
    return new Batch(
        used, unused, rows, Set.copyOf(more), moreElsewhere || anyMoved || rows.size() < found);
  }

  /** Counts the attempt before it is made where it may end the process (S6). */
  private void count(List<Claimable> rows) {
    List<Claimable> counted = rows.stream().filter(row -> of(row).lease.single()).toList();
    if (!counted.isEmpty()) {
      database.writes().count(handle, counted, 1);
    }
  }

  /**
   * The order in which messages get a place in the batch; what does not fit is cut off at the end.
   * It goes kind by kind, and each batch begins with another kind. Within a kind the buckets that
   * have waited longest come first (C6).
   */
  private List<Claimable> inTurn() {
    long turn =
        buckets.isEmpty() ? 0 : buckets.get(0).lease.token() + buckets.get(0).lease.batches();
    List<Status> turns = new ArrayList<>(KINDS);
    Collections.rotate(turns, -(int) (turn % turns.size()));
    List<Claimable> inTurn = new ArrayList<>(found);
    for (Status kind : turns) {
      for (Bucket bucket : buckets) {
        inTurn.addAll(bucket.of(kind));
      }
    }
    return inTurn;
  }

  private List<Claimable> inOrder(List<Claimable> inTurn) {
    List<Claimable> chosen = chosen(inTurn);
    List<Claimable> inOrder = new ArrayList<>(chosen);
    inOrder.sort(Comparator.comparingLong(Claimable::sequence));
    for (int i = 1; i < inOrder.size(); i++) {
      if (inOrder.get(i - 1).sequence() == inOrder.get(i).sequence()) {
        return inOrder(beforeRepeated(chosen));
      }
    }
    inOrder.forEach(row -> of(row).served = true);
    return inOrder;
  }

  /** Cuts off where a sequence comes twice, by plain SQL: decisions are made by sequence. */
  private static List<Claimable> beforeRepeated(List<Claimable> chosen) {
    Set<Long> sequences = new HashSet<>();
    int first = 0;
    while (sequences.add(chosen.get(first).sequence())) {
      first++;
    }
    return chosen.subList(0, first);
  }

  private List<Claimable> chosen(List<Claimable> inTurn) {
    Set<Integer> singleTaken = new HashSet<>();
    List<Claimable> chosen = new ArrayList<>(inTurn.size());
    long size = 0;
    for (Claimable row : inTurn) {
      size += row.payloadSize();
      if (chosen.size() == request.maxMessages()
          || (size > request.maxBytes() && !chosen.isEmpty())) {
        break;
      }
      if (!of(row).lease.single() || singleTaken.add(row.bucket())) {
        chosen.add(row);
      }
    }
    return chosen;
  }

  private static long ceil(long a, int b) {
    return a / b + (a % b == 0 ? 0 : 1);
  }
}
