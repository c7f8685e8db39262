package dev.outbox.tck.store;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.memory.MemoryOutboxStore;
import dev.outbox.store.memory.MemoryTransaction;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * What should come of it: a memory store for each key. A store chooses which keys a claim brings;
 * of one key it has little choice, so these can follow it key by key. The clock is its own.
 */
final class Reference {
  private final Duration dedupWindow;
  private final boolean sequencesAtCommit;
  private final Map<String, MemoryOutboxStore> keys = new LinkedHashMap<>();

  /** Dedup keys know no keys: every message that has one is appended here too. */
  private final MemoryOutboxStore dedupKeys;

  private Instant now = Instant.parse("2030-01-01T00:00:00Z");

  /**
   * @param sequencesAtCommit whether messages take their places when they are committed
   */
  Reference(Duration dedupWindow, boolean sequencesAtCommit) {
    this.dedupWindow = dedupWindow;
    this.sequencesAtCommit = sequencesAtCommit;
    dedupKeys = newStore();
  }

  private MemoryOutboxStore newStore() {
    return new MemoryOutboxStore(this::now, dedupWindow);
  }

  Instant now() {
    return now;
  }

  void letPass(Duration time) {
    now = now.plus(time);
  }

  private MemoryOutboxStore of(String key) {
    return keys.computeIfAbsent(key, k -> newStore());
  }

  Set<String> keys() {
    return keys.keySet();
  }

  Transaction begin() {
    return new Transaction();
  }

  /** A producer's transaction. */
  final class Transaction {
    private final MemoryTransaction dedup = dedupKeys.begin();
    private final Map<String, MemoryTransaction> parts = new LinkedHashMap<>();
    private final List<OutboxMessage> later = new ArrayList<>();

    /** False when it is a duplicate. */
    boolean append(OutboxMessage message) {
      if (message.dedupKey() != null && !dedupKeys.append(dedup, message).allStored()) {
        return false;
      }
      if (sequencesAtCommit) {
        later.add(message);
      } else {
        store(message);
      }
      return true;
    }

    /** Its dedup key has been asked for. */
    private void store(OutboxMessage message) {
      MemoryOutboxStore store = of(message.key());
      var unused =
          store.append(parts.computeIfAbsent(message.key(), key -> store.begin()), message);
    }

    void end(boolean commits) {
      if (commits) {
        later.forEach(this::store);
      }
      List<MemoryTransaction> all = new ArrayList<>(parts.values());
      all.add(dedup);
      all.forEach(commits ? MemoryTransaction::commit : MemoryTransaction::rollback);
    }
  }

  /** What of the key may be claimed now, in this order; none while a live claim holds it. */
  List<StoredMessage> due(String key) {
    Claim claim = claim(key, Duration.ofHours(1));
    Set<Long> ignored = claim.settle(Map.of());
    return claim.messages();
  }

  /** Claims all that is due of a key: what a store leaves out is given back by the settle. */
  Claim claim(String key, Duration lease) {
    return of(key).claim(new Claim.Request("reference", Integer.MAX_VALUE, Long.MAX_VALUE, lease));
  }

  List<DeadLetter> deadLetters() {
    return keys.values().stream()
        .flatMap(store -> store.deadLetters(0, Integer.MAX_VALUE).stream())
        .toList();
  }

  void requeue(DeadLetter letter) {
    of(letter.message().key()).requeue(letter.message().sequence());
  }

  void discard(DeadLetter letter) {
    of(letter.message().key()).discard(letter.message().sequence());
  }

  long sum(ToLongFunction<Statistics> number) {
    return keys.values().stream()
        .mapToLong(s -> number.applyAsLong(s.statistics(Integer.MAX_VALUE)))
        .sum();
  }
}
