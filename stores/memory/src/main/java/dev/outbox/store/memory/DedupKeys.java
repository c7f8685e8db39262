package dev.outbox.store.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;

/** Which dedup keys were appended by whom and when (A4). All under the store's lock. */
final class DedupKeys {
  private record Taken(MemoryTransaction by, Instant at) {}

  private final InstantSource clock;
  private final Duration window;
  private final Map<String, Taken> taken = new LinkedHashMap<>();

  DedupKeys(InstantSource clock, Duration window) {
    this.clock = clock;
    this.window = window;
  }

  /** False when it is a duplicate; waits while it is in another open transaction. */
  boolean take(String dedupKey, MemoryTransaction transaction) {
    while (true) {
      Instant oldest = clock.instant().minus(window);
      taken.values().removeIf(t -> !t.by.active && t.at.isBefore(oldest));
      Taken first = taken.get(dedupKey);
      if (first == null) {
        taken.put(dedupKey, new Taken(transaction, clock.instant()));
        return true;
      }
      if (first.by == transaction || !first.by.active) {
        return false;
      }
      first.by.awaitEnd(transaction);
    }
  }

  void rolledBack(MemoryTransaction transaction) {
    taken.values().removeIf(t -> t.by == transaction);
  }

  void clear() {
    taken.clear();
  }
}
