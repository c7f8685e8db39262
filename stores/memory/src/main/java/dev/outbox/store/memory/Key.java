package dev.outbox.store.memory;

import dev.outbox.spi.store.Claim;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The messages of one key and the lease on them. */
final class Key {
  final String name;

  /** Dead letters too. */
  final NavigableMap<Long, Row> rows = new TreeMap<>();

  /** The last claim to take the key, unless it was settled; or who keeps it since. */
  @Nullable Claim holder;

  Instant leasedUntil = Instant.MIN;
  Duration lease = Duration.ZERO;

  /** How many claims in a row let their lease run out (S6). */
  int expired;

  Key(String name) {
    this.name = name;
  }

  /** Takes or prolongs the lease. */
  void lease(Claim claim, Instant now, Duration length) {
    holder = claim;
    lease = length;
    leasedUntil = now.plus(length);
  }

  /**
   * A lease that ends much further ahead than it is long is from before the clock went back (T1).
   */
  boolean isLeased(Instant now) {
    return holder != null
        && now.isBefore(leasedUntil)
        && !leasedUntil.isAfter(now.plus(lease.multipliedBy(2)));
  }

  /** Someone has to decide about a dead letter first (O3). */
  boolean isHalted() {
    return rows.values().stream().anyMatch(row -> row.dead && row.haltsKey);
  }

  /** A message was given a retry, and nobody has to decide first. */
  boolean isWaiting() {
    return !isHalted() && live().stream().anyMatch(row -> row.failed);
  }

  /** All but the dead letters. */
  List<Row> live() {
    return rows.values().stream().filter(row -> !row.dead).toList();
  }

  /** What may be delivered now, in this order. */
  List<Row> due(Instant now) {
    List<Row> due = new ArrayList<>();
    if (isHalted()) {
      return due;
    }
    for (Row row : live()) { // dead letters let others pass (O3)
      if (!row.failed && !row.isDue(now)) {
        continue; // delayed messages too (O4)
      }
      if (row.failed) {
        if (due.isEmpty() && row.isDue(now)) {
          due.add(row); // alone, so that it does not bring the others along each time
        }
        break; // later ones wait (O2)
      }
      due.add(row);
    }
    return due;
  }
}
