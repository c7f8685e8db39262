package dev.outbox.store.core.internal;

import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Database.Block;
import dev.outbox.store.core.internal.Database.Failure;
import dev.outbox.store.core.internal.Database.Key;
import dev.outbox.store.core.internal.Database.Release;
import dev.outbox.store.core.internal.Database.Writes;
import dev.outbox.store.core.internal.Row.Claimable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Applies decisions to messages whose buckets are locked by this transaction.
 *
 * <p>A failure changes a message only while its attempts are as they were claimed, and blocks its
 * key only when it changed the message: so a settle that is repeated after a lost reply does
 * nothing twice (S1).
 */
final class Settlement<H> {
  private final H handle;
  private final Database<H> database;
  private final Writes<H> writes;
  private final UUID claimId;
  private final DecidedMessages decided;
  private final List<Claimable> delivered = new ArrayList<>();
  private final List<Claimable> undecidedButCounted = new ArrayList<>();
  private final List<Claimable> expired = new ArrayList<>();
  private final List<Failure> failures = new ArrayList<>();
  private final Map<Long, Block> blockBySequence = new LinkedHashMap<>();
  private final Map<String, Key> progress = new LinkedHashMap<>();

  /** Buckets whose messages had their attempt counted when they were claimed. */
  private final boolean[] counted = new boolean[Database.BUCKETS];

  Settlement(H handle, Database<H> database, UUID claimId, DecidedMessages decided) {
    this.handle = handle;
    this.database = database;
    this.writes = database.writes();
    this.claimId = claimId;
    this.decided = decided;
  }

  /**
   * Locks the buckets that are still the claim's, and carries the decisions out for their messages.
   *
   * @return their leases as they stand then, by bucket
   */
  Map<Integer, Lease> of(Collection<Lease> leases) {
    List<Lease> locked = database.leases().lockHeld(handle, claimId, leases);
    Map<Integer, Lease> held = new HashMap<>();
    apply(locked).forEach(lease -> held.put(lease.bucket(), lease));
    return held;
  }

  /** Gives buckets back, after that. */
  void release(Collection<Lease> released) {
    if (!released.isEmpty()) {
      database
          .leases()
          .release(
              handle,
              claimId,
              released.stream()
                  .map(l -> new Release(l, decided.decided(l.bucket()), true, false))
                  .toList());
    }
  }

  /**
   * @param leases of the buckets that are locked: nothing happens to messages of others
   * @return the leases as they are after it
   */
  Collection<Lease> apply(Collection<Lease> leases) {
    boolean[] locked = new boolean[Database.BUCKETS];
    for (Lease lease : leases) {
      locked[lease.bucket()] = true;
      counted[lease.bucket()] = lease.single();
    }
    List<Claimable> rows = decided.rows();
    for (int i = 0; i < rows.size(); i++) {
      Claimable row = rows.get(i);
      Decision decision = decided.of(i);
      if (!locked[row.bucket()]) {
        continue;
      }
      if (decision instanceof Decision.Delivered) {
        delivered.add(delivered(writes, row, decision));
        progressed(row);
      } else if (decision instanceof Decision.Retry retry) {
        failed(row, retry.counts(), Status.BLOCKED, retry.error());
        blockBySequence.put(row.sequence(), block(row, retry.delay(), false));
      } else if (decision instanceof Decision.Dead dead) {
        failed(row, true, Status.DEAD, dead.error());
        progressed(row);
        if (dead.haltsKey()) {
          blockBySequence.put(row.sequence(), block(row, Duration.ZERO, true));
        }
      } else if (decision instanceof Decision.Expired) {
        // As a dead letter, and removed at once: so it changes nothing twice (S1).
        failed(row, false, Status.DEAD, Decision.Expired.ERROR);
        expired.add(row);
        progressed(row);
      } else if (counted[row.bucket()]) {
        undecidedButCounted.add(row);
      }
    }
    return write(leases);
  }

  /** The row with the broker's answer, where the store archives it. */
  static Claimable delivered(Writes<?> writes, Claimable row, @Nullable Decision decision) {
    return writes.archives() && decision instanceof Decision.Delivered delivered
        ? row.answered(delivered.answer())
        : row;
  }

  private Collection<Lease> write(Collection<Lease> leases) {
    Collection<Lease> after =
        delivered.isEmpty() ? leases : writes.delete(handle, leases, delivered);
    if (!undecidedButCounted.isEmpty()) {
      writes.count(handle, undecidedButCounted, -1);
    }
    Set<Long> changed = failures.isEmpty() ? Set.of() : writes.fail(handle, failures);
    List<Claimable> gone =
        expired.stream().filter(row -> changed.contains(row.sequence())).toList();
    if (!gone.isEmpty()) {
      database.administration().expire(handle, gone);
    }
    // A failure that is written already has blocked its key already: nothing of that is undone.
    blockBySequence.forEach(
        (sequence, block) -> {
          if (!changed.contains(sequence)) {
            progress.remove(block.key());
          }
        });
    // First who may go on, then who must wait: of a key that had both, the wait is what counts.
    if (!progress.isEmpty()) {
      writes.advance(handle, progress.values());
    }
    List<Block> blocks = headOfEachKey(changed);
    if (!blocks.isEmpty()) {
      writes.block(handle, blocks);
    }
    return after;
  }

  private void failed(Claimable row, boolean counts, Status status, String error) {
    int before = row.message().attempts();
    int claimed = counted[row.bucket()] ? oneMore(before) : before;
    failures.add(new Failure(row, claimed, counts ? oneMore(before) : before, status, error));
  }

  private void progressed(Claimable row) {
    if (row.status() == Status.BLOCKED) {
      progress.putIfAbsent(row.key(), Key.of(row));
    }
  }

  private static Block block(Claimable row, Duration delay, boolean halted) {
    return new Block(row.bucket(), row.key(), row.sequence(), row.sequence(), delay, halted);
  }

  private List<Block> headOfEachKey(Set<Long> changed) {
    Map<String, Block> heads = new LinkedHashMap<>();
    blockBySequence.forEach(
        (sequence, block) -> {
          if (changed.contains(sequence)) {
            heads.merge(block.key(), block, Settlement::together);
          }
        });
    return List.copyOf(heads.values());
  }

  /** Of two blocks of a key: the halting one, read from the first message of both on. */
  private static Block together(Block head, Block later) {
    return later.halted()
        ? new Block(
            later.bucket(), later.key(), later.sequence(), head.lowSequence(), later.delay(), true)
        : head;
  }

  /** Plain SQL may have set any number (S5). */
  private static int oneMore(int attempts) {
    return attempts == Integer.MAX_VALUE ? attempts : attempts + 1;
  }
}
