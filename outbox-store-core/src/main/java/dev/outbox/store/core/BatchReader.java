package dev.outbox.store.core;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.store.core.Statements.Key;
import dev.outbox.store.core.Statements.Limits;
import dev.outbox.store.core.Statements.Pending;
import dev.outbox.store.core.Statements.Release;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Reads the first due messages of leased buckets, moves out of the way at once what must move, and
 * chooses a batch. PENDING messages get at least half of it; due SCHEDULED ones and blocked keys
 * share the rest, so that neither failing heads nor a backlog can eat every batch (C6).
 */
final class BatchReader<H> {
  private static final int LEAST_BUCKETS = 4;
  private static final int LARGE = OutboxMessage.MAX_PAYLOAD / 2;

  private final H handle;
  private final Statements<H> statements;
  private final UUID owner;
  private final ClaimRequest request;

  /** By bucket, those whose turn comes first in front. */
  private final Map<Integer, Lease> leases = new LinkedHashMap<>();

  /** PENDING, SCHEDULED and blocked messages, each by bucket and in order. */
  private final List<Map<Integer, List<Row>>> kinds =
      List.of(new HashMap<>(), new HashMap<>(), new HashMap<>());

  private final List<Key> emptyKeys = new ArrayList<>();
  private final Set<Integer> moved = new HashSet<>();
  private final Set<Integer> more = new HashSet<>();
  private int found;
  private long bytes;

  BatchReader(H handle, Statements<H> statements, UUID owner, ClaimRequest request) {
    this.handle = handle;
    this.statements = statements;
    this.owner = owner;
    this.request = request;
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
        || kinds.stream().anyMatch(kind -> !kind.getOrDefault(bucket, List.of()).isEmpty());
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
    Pending pending = statements.readPending(handle, from, limits);
    Map<Integer, List<Row>> byBucket = byBucket(pending.rows());
    for (Lease lease : from) {
      long lowest = Long.MAX_VALUE;
      long highest = 0;
      for (Row row : byBucket.getOrDefault(lease.bucket(), List.of())) {
        lowest = Math.min(lowest, row.sequence());
        highest = Math.max(highest, row.sequence());
      }
      Mark mark = lease.mark().afterRead(lowest, highest, pending.horizon());
      leases.put(lease.bucket(), lease.with(mark));
    }
    take(0, byBucket, limits);
  }

  private void readScheduled(List<Lease> from, int most) {
    if (!from.isEmpty()) {
      Limits limits = limits(from, most);
      take(1, byBucket(statements.readScheduled(handle, from, limits)), limits);
    }
  }

  private void readBlocked(List<Lease> from, int most) {
    if (!from.isEmpty()) {
      Limits limits = limits(from, most);
      List<Row> rows = statements.readBlocked(handle, from, limits);
      take(2, byBucket(rows), limits);
      // When these were delivered their key is due again, with all that follows them.
      rows.forEach(row -> more.add(row.bucket()));
    }
    if (!emptyKeys.isEmpty()) {
      statements.advance(handle, emptyKeys);
      emptyKeys.forEach(key -> moved.add(key.bucket()));
      emptyKeys.clear();
    }
  }

  private Limits limits(List<Lease> from, int most) {
    return new Limits(
        ceil(Math.max(1, most), from.size()), Math.max(1, request.maxBytes() / from.size()));
  }

  private static Map<Integer, List<Row>> byBucket(List<Row> rows) {
    return rows.stream().collect(Collectors.groupingBy(Row::bucket));
  }

  private void take(int kind, Map<Integer, List<Row>> byBucket, Limits limits) {
    List<Row> moves = new ArrayList<>();
    byBucket.forEach(
        (bucket, rows) -> {
          List<Row> claimable = kinds.get(kind).computeIfAbsent(bucket, b -> new ArrayList<>());
          long bytesHere = 0;
          for (Row row : rows) {
            if (row.target() != null) {
              moves.add(row);
            } else if (row.message() != null) {
              claimable.add(row);
              found++;
              bytesHere += row.payloadSize();
            } else {
              emptyKeys.add(new Key(bucket, row.key(), row.sequence()));
            }
          }
          bytes += bytesHere;
          if (rows.size() >= limits.messages() || bytesHere > limits.bytes() / 2) {
            more.add(bucket);
          }
        });
    if (!moves.isEmpty()) {
      move(moves);
    }
  }

  private void move(List<Row> moves) {
    statements.move(handle, moves);
    Map<String, Key> lowest = new HashMap<>();
    for (Row row : moves) {
      moved.add(row.bucket());
      if (row.target() == Status.BLOCKED) {
        lowest.merge(
            row.key(),
            new Key(row.bucket(), row.key(), row.sequence()),
            (a, b) -> a.sequence() <= b.sequence() ? a : b);
      }
    }
    statements.lower(handle, List.copyOf(lowest.values()));
  }

  /**
   * Chooses what fits, and gives back the buckets that nothing was taken from.
   *
   * @param moreElsewhere whether buckets that probably have more were not read
   */
  Batch choose(boolean moreElsewhere) {
    List<Row> inTurn = inTurn();
    List<Row> rows = chosen(inTurn);
    Set<Integer> served = rows.stream().map(Row::bucket).collect(Collectors.toSet());
    Set<Integer> cut = inTurn.stream().map(Row::bucket).collect(Collectors.toSet());
    cut.removeAll(served);
    List<Lease> used = new ArrayList<>();
    List<Release> unused = new ArrayList<>();
    for (Lease lease : leases.values()) {
      int bucket = lease.bucket();
      if (served.contains(bucket) || moved.contains(bucket)) {
        used.add(lease);
      } else {
        unused.add(new Release(lease, 0, lease.batches() > 0, cut.contains(bucket)));
      }
    }
    if (!unused.isEmpty()) {
      statements.release(handle, owner, unused);
    }
    count(rows, used);
    more.addAll(moved);
    return new Batch(
        used,
        rows.stream().sorted(Comparator.comparingLong(Row::sequence)).toList(),
        Set.copyOf(more),
        moreElsewhere || !moved.isEmpty() || rows.size() < found);
  }

  /** An attempt is counted before it is made where the attempt may end the process (S6). */
  private void count(List<Row> rows, List<Lease> used) {
    Set<Integer> single = singles(used);
    List<Row> counted = rows.stream().filter(row -> single.contains(row.bucket())).toList();
    if (!counted.isEmpty()) {
      statements.count(handle, counted, 1);
    }
  }

  /**
   * The order in which messages get a place: kind by kind, which one is first changes from batch to
   * batch, and of a kind those of the buckets first that have waited longest, because what does not
   * fit is cut off at the end (C6).
   */
  private List<Row> inTurn() {
    long turn =
        leases.values().stream().mapToLong(l -> l.token() + l.batches()).findFirst().orElse(0);
    List<Map<Integer, List<Row>>> turns = new ArrayList<>(kinds);
    Collections.rotate(turns, -(int) (turn % turns.size()));
    List<Row> inTurn = new ArrayList<>(found);
    for (Map<Integer, List<Row>> kind : turns) {
      for (Integer bucket : leases.keySet()) {
        inTurn.addAll(kind.getOrDefault(bucket, List.of()));
      }
    }
    return inTurn;
  }

  private List<Row> chosen(List<Row> inTurn) {
    Set<Integer> single = singles(leases.values());
    Set<Integer> singleTaken = new HashSet<>();
    Set<Long> sequences = new HashSet<>();
    List<Row> chosen = new ArrayList<>();
    long size = 0;
    for (Row row : inTurn) {
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
