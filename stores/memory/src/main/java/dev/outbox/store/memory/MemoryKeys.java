package dev.outbox.store.memory;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.store.ArchiveStore.Outcome;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The keys of a store, who holds them, and what becomes of their messages. */
abstract class MemoryKeys {
  private static final int SUSPICIOUS = 3;

  private final InstantSource clock;

  /** By key; the one longest not claimed first. */
  final Map<String, Key> keys = new LinkedHashMap<>();

  MemoryKeys(InstantSource clock) {
    this.clock = requireNonNull(clock, "clock");
  }

  /** A message leaves its key. */
  abstract void leave(Key key, Row row, Outcome outcome, Decision.@Nullable Delivered delivered);

  /**
   * A claim of nothing yet.
   *
   * @param kept as {@link MemoryClaim#kept}
   */
  final MemoryClaim newClaim(@Nullable MemoryClaim kept) {
    return new MemoryClaim(kept) {
      @Override
      public Set<Long> renew(Duration lease) {
        return MemoryKeys.this.renew(this, lease);
      }

      @Override
      public Set<Long> settle(Map<Long, Decision> decisions) {
        return MemoryKeys.this.settle(this, decisions);
      }
    };
  }

  /** Fills a claim with what is due of the keys that it may have. */
  MemoryClaim claim(MemoryClaim claim, Claim.Request request) {
    Instant now = now();
    for (Key key : keys.values()) {
      if (mayHave(claim, key, now) && !take(key, claim, request, now)) {
        break;
      }
    }
    claim.rows.forEach(
        (key, rows) -> {
          moveToEnd(key);
          key.expired += isAbandoned(claim, key) ? 1 : 0;
          key.lease(claim, now, request.lease());
        });
    return claim;
  }

  /** Whether nobody has the key, or those whom the claim is for keep it. */
  boolean mayHave(MemoryClaim claim, Key key, Instant now) {
    return isFree(key, now) || (key.holder != null && key.holder == claim.kept);
  }

  /** Whether the lease of another ran out. */
  private static boolean isAbandoned(MemoryClaim claim, Key key) {
    return key.holder != null && key.holder != claim.kept;
  }

  /** The other keys are before it in the next claim (C6). */
  void moveToEnd(Key key) {
    keys.remove(key.name);
    keys.put(key.name, key);
  }

  boolean isFree(Key key, Instant now) {
    return !key.isLeased(now);
  }

  /** Adds what the key has to the claim; false when the claim is full. */
  private boolean take(Key key, MemoryClaim claim, Claim.Request request, Instant now) {
    boolean suspicious = key.expired + (isAbandoned(claim, key) ? 1 : 0) >= SUSPICIOUS;
    for (Row row : due(key, now)) {
      if (suspicious && !claim.messages.isEmpty()) {
        return true; // it comes when it is first in the queue
      }
      if (!claim.hasRoomFor(row, request.maxMessages(), request.maxBytes())) {
        return false;
      }
      claim.add(key, row, claimed(row, now));
      if (suspicious) {
        row.attempts++;
        claim.countedBefore = true;
        return false;
      }
    }
    return true;
  }

  StoredMessage claimed(Row row, Instant now) {
    return row.toStored().claimedAt(now);
  }

  List<Row> due(Key key, Instant now) {
    return key.due(now);
  }

  synchronized Set<Long> renew(MemoryClaim claim, Duration lease) {
    Instant now = now();
    Set<Long> held = new HashSet<>();
    claim.rows.forEach(
        (key, rows) -> {
          if (holds(claim, key)) {
            key.lease(claim, now, lease);
            rows.forEach(row -> held.add(row.sequence));
          }
        });
    return held;
  }

  synchronized Set<Long> settle(MemoryClaim claim, Map<Long, Decision> decisions) {
    Claim.requireKnown(claim.messages, decisions);
    Set<Long> lost = new HashSet<>();
    claim.rows.forEach(
        (key, rows) -> {
          if (holds(claim, key)) {
            rows.forEach(row -> apply(key, row, decisions.get(row.sequence), claim.countedBefore));
            release(key);
          } else {
            rows.forEach(row -> lost.add(row.sequence));
          }
        });
    return lost;
  }

  boolean holds(MemoryClaim claim, Key key) {
    return key.holder == claim;
  }

  void release(Key key) {
    key.holder = null;
    key.expired = 0;
    forgetIfEmpty(key);
  }

  void forgetIfEmpty(Key key) {
    if (key.rows.isEmpty() && key.holder == null) {
      keys.remove(key.name, key);
    }
  }

  void apply(Key key, Row row, @Nullable Decision decision, boolean countedBefore) {
    if (countedBefore) {
      row.attempts--;
    }
    if (decision instanceof Decision.Delivered delivered) {
      leave(key, row, Outcome.DELIVERED, delivered);
    } else if (decision instanceof Decision.Expired) {
      row.dead = true;
      fail(row, Decision.Expired.ERROR);
      leave(key, row, Outcome.EXPIRED, null);
    } else if (decision instanceof Decision.Retry retry) {
      row.attempts += retry.counts() ? 1 : 0;
      row.failed = true;
      row.dueAt = dueAgain(retry);
      fail(row, retry.error());
    } else if (decision instanceof Decision.Dead dead) {
      row.attempts++;
      row.dead = true;
      row.haltsKey = dead.haltsKey();
      fail(row, dead.error());
    }
  }

  Instant dueAgain(Decision.Retry retry) {
    return now().plus(retry.delay());
  }

  private void fail(Row row, String error) {
    row.error = error;
    row.failedAt = now();
  }

  Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MICROS);
  }
}
