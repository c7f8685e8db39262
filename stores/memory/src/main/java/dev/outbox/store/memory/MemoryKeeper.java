package dev.outbox.store.memory;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore.Keeper;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Keeps keys between the claims that come through it (C8). What it keeps is held by a claim of its
 * own that has no messages; the store's lock is its lock too. A key that has nothing to claim for
 * as long as workers may not claim is given back: there may be many keys.
 */
class MemoryKeeper implements Keeper {
  private final MemoryKeys store;
  private final Duration unclaimed;
  final MemoryClaim kept;

  /** The keys that are kept, and since when they have had nothing to claim. */
  final Map<Key, Instant> idleSince = new HashMap<>();

  private Instant claimedAt;
  private boolean closed;

  MemoryKeeper(MemoryKeys store, Duration unclaimed) {
    this.store = store;
    this.unclaimed = unclaimed;
    kept = store.newClaim(null);
    claimedAt = store.now();
  }

  /** Whether it keeps the keys of all these, and each is what comes next of its key. */
  boolean handOver(List<Row> rows) {
    synchronized (store) {
      return rows.stream().allMatch(row -> isNext(row, store.now()));
    }
  }

  private boolean isNext(Row row, Instant now) {
    Key key = store.keys.get(row.key);
    return key != null
        && idleSince.containsKey(key)
        && isKept(key, now)
        && key.due(now).contains(row);
  }

  @Override
  public Claim claim(Claim.Request request) {
    synchronized (store) {
      Instant now = store.now();
      claimedAt = now;
      for (Key key : Set.copyOf(idleSince.keySet())) {
        if (isKept(key, now) && !isIdle(key, now)) {
          lease(key, now, request.lease());
        } else {
          release(key);
        }
      }
      MemoryClaim claim = store.claim(store.newClaim(kept), request);
      idleSince.keySet().removeAll(claim.rows.keySet());
      return claim;
    }
  }

  /** A lease that ended is lost, whether or not somebody else has the key by now. */
  boolean isKept(Key key, Instant now) {
    return key.holder == kept && key.isLeased(now);
  }

  void lease(Key key, Instant now, Duration length) {
    key.lease(kept, now, length);
  }

  boolean isOver() {
    return closed;
  }

  private boolean isIdle(Key key, Instant now) {
    return !now.isBefore(requireNonNull(idleSince.get(key)).plus(unclaimed));
  }

  private void release(Key key) {
    idleSince.remove(key);
    if (key.holder == kept) {
      store.release(key);
    }
  }

  @Override
  public Settled settleAndClaim(Claim done, Map<Long, Decision> decisions, Claim.Request next) {
    synchronized (store) {
      Set<Long> lost = done.settle(decisions);
      if (!isOver() && done instanceof MemoryClaim claim && claim.kept == kept) {
        keep(claim, lost, next.lease());
      }
      return new Settled(lost, claim(next));
    }
  }

  private void keep(MemoryClaim claim, Set<Long> lost, Duration lease) {
    Instant now = store.now();
    claim.rows.forEach(
        (key, rows) -> {
          boolean ours = rows.stream().noneMatch(row -> lost.contains(row.sequence));
          if (ours && key.holder == null) {
            store.keys.putIfAbsent(key.name, key);
            lease(key, now, lease);
            idleSince.put(key, now);
          }
        });
  }

  @Override
  public void giveBackUnused() {
    synchronized (store) {
      if (!store.now().isBefore(claimedAt.plus(unclaimed))) {
        giveBack();
      }
    }
  }

  @Override
  public void close() {
    synchronized (store) {
      closed = true;
      giveBack();
    }
  }

  private void giveBack() {
    Set.copyOf(idleSince.keySet()).forEach(this::release);
  }
}
