package dev.outbox.store.jdbc;

import dev.outbox.spi.ClaimRequest;
import dev.outbox.store.jdbc.Dialect.Key;
import dev.outbox.store.jdbc.Dialect.Limits;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;

/**
 * What a claim found in the buckets it leased.
 *
 * @param leases those that brought messages; the others were given back already
 * @param rows the messages claimed, in sequence order
 * @param counted the buckets whose attempts were counted before publishing (S6)
 * @param pollAgain whether there may be more at this moment
 */
record Batch(List<Lease> leases, List<Row> rows, List<Lease> counted, boolean pollAgain) {

  static final Batch EMPTY = new Batch(List.of(), List.of(), List.of(), false);

  /**
   * Reads the first due messages of each bucket. PENDING ones get at least half of the batch; due
   * SCHEDULED ones and blocked keys share the rest, so that neither failing heads nor a backlog can
   * eat every batch (C6).
   */
  static Batch read(
      Handle handle, Dialect dialect, UUID owner, List<Lease> leases, ClaimRequest request) {
    int most = request.maxMessages();
    List<Lease> scheduledDue = leases.stream().filter(Lease::scheduled).toList();
    List<Lease> blockedDue = leases.stream().filter(Lease::blocked).toList();
    int reserved = (scheduledDue.isEmpty() ? 0 : most / 4) + (blockedDue.isEmpty() ? 0 : most / 4);

    Reader reader = new Reader(handle, dialect, request, leases.size());
    List<Row> pending = reader.read(dialect::readPending, leases, most - reserved);
    int rest = Math.max(1, most - pending.size());
    List<Row> scheduled =
        reader.read(
            dialect::readScheduled, scheduledDue, blockedDue.isEmpty() ? rest : ceil(rest, 2));
    // After the moves: what they added to a blocked key is taken along at its place.
    rest = Math.max(1, most - pending.size() - scheduled.size());
    List<Row> blocked = reader.read(dialect::readBlocked, blockedDue, rest);
    reader.removeEmptyKeys();

    List<Row> found = inTurn(leases, List.of(pending, scheduled, blocked));
    List<Row> rows = choose(request, leases, found);
    return giveBackUnused(handle, dialect, owner, leases, found, rows, reader.moved);
  }

  /** Which of the three kinds comes first when not all fit; changes from claim to claim. */
  private static int turn(List<Lease> leases) {
    return (int) (leases.get(0).token() % 3);
  }

  /**
   * The order in which messages get a place: kind by kind, and of a kind those of the buckets first
   * that have waited longest, because what does not fit is cut off at the end (C6).
   */
  private static List<Row> inTurn(List<Lease> leases, List<List<Row>> kinds) {
    Map<Integer, Integer> place = new HashMap<>();
    leases.forEach(lease -> place.put(lease.bucket(), place.size()));
    Comparator<Row> byPlace = Comparator.comparing(row -> place.get(row.bucket()));
    List<List<Row>> order = new ArrayList<>(kinds);
    Collections.rotate(order, -turn(leases));
    // The sort is stable: of each bucket, what stays has no gap.
    return order.stream().flatMap(kind -> kind.stream().sorted(byPlace)).toList();
  }

  private static List<Row> choose(ClaimRequest request, List<Lease> leases, List<Row> found) {
    Set<Integer> single =
        leases.stream().filter(Lease::single).map(Lease::bucket).collect(Collectors.toSet());
    Set<Integer> singleTaken = new HashSet<>();
    List<Row> chosen = new ArrayList<>();
    long bytes = 0;
    for (Row row : found) {
      bytes += row.payloadSize();
      if (chosen.size() == request.maxMessages()
          || (bytes > request.maxBytes() && !chosen.isEmpty())) {
        break;
      }
      if (!single.contains(row.bucket()) || singleTaken.add(row.bucket())) {
        chosen.add(row);
      }
    }
    return sorted(chosen);
  }

  private static List<Row> sorted(List<Row> rows) {
    return rows.stream().sorted(Comparator.comparingLong(Row::sequence)).toList();
  }

  private static Batch giveBackUnused(
      Handle handle,
      Dialect dialect,
      UUID owner,
      List<Lease> leases,
      List<Row> found,
      List<Row> rows,
      boolean moved) {
    Set<Integer> withMessages = found.stream().map(Row::bucket).collect(Collectors.toSet());
    Set<Integer> served = rows.stream().map(Row::bucket).collect(Collectors.toSet());
    List<Lease> used = leases.stream().filter(l -> served.contains(l.bucket())).toList();
    List<Integer> unused =
        leases.stream().map(Lease::bucket).filter(bucket -> !served.contains(bucket)).toList();
    if (!unused.isEmpty()) {
      dialect.giveBack(
          handle, owner, unused, unused.stream().filter(withMessages::contains).toList());
    }
    List<Lease> single = used.stream().filter(Lease::single).toList();
    if (!single.isEmpty()) {
      Set<Integer> buckets = single.stream().map(Lease::bucket).collect(Collectors.toSet());
      dialect.count(handle, rows.stream().filter(r -> buckets.contains(r.bucket())).toList(), 1);
    }
    return new Batch(used, rows, single, moved || rows.size() < found.size());
  }

  private static int ceil(int a, int b) {
    return (a + b - 1) / b;
  }

  /** Reads one kind after the other, and moves at once what must move. */
  private static final class Reader {
    private final Handle handle;
    private final Dialect dialect;
    private final ClaimRequest request;
    private final long bytes;
    private final List<Key> emptyKeys = new ArrayList<>();
    private boolean moved;

    Reader(Handle handle, Dialect dialect, ClaimRequest request, int buckets) {
      this.handle = handle;
      this.dialect = dialect;
      this.request = request;
      this.bytes = Math.max(1, request.maxBytes() / buckets);
    }

    private interface Read {
      List<Row> rows(Handle handle, List<Lease> leases, Limits limits);
    }

    List<Row> read(Read read, List<Lease> leases, int most) {
      if (leases.isEmpty()) {
        return List.of();
      }
      Limits limits = new Limits(ceil(Math.max(1, most), leases.size()), bytes);
      List<Row> claimable = new ArrayList<>();
      List<Row> moves = new ArrayList<>();
      for (Row row : read.rows(handle, leases, limits)) {
        if (row.target() != null) {
          moves.add(row);
        } else if (row.message() != null) {
          claimable.add(row);
        } else {
          emptyKeys.add(new Key(row.bucket(), row.key(), row.sequence()));
        }
      }
      if (!moves.isEmpty()) {
        move(moves);
      }
      return claimable;
    }

    private void move(List<Row> moves) {
      moved = true;
      dialect.move(handle, moves);
      Map<String, Key> lowest = new HashMap<>();
      for (Row row : moves) {
        if (row.target() == Status.BLOCKED) {
          lowest.merge(
              row.key(),
              new Key(row.bucket(), row.key(), row.sequence()),
              (a, b) -> a.sequence() <= b.sequence() ? a : b);
        }
      }
      dialect.lower(handle, List.copyOf(lowest.values()));
    }

    void removeEmptyKeys() {
      if (!emptyKeys.isEmpty()) {
        dialect.advance(handle, emptyKeys);
        moved = true;
      }
    }
  }
}
