package dev.outbox.store.memory;

import dev.outbox.Header;
import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Decision;
import dev.outbox.spi.StoredMessage;
import dev.outbox.tck.Rule;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;

/**
 * Stores that break one rule each, which the tests of just that rule must notice. Each is a mistake
 * that was made somewhere, and narrow enough that the other rules hold.
 */
public final class BrokenStores {
  /** What the store that is made next in this thread is made with. */
  static final ThreadLocal<InstantSource> CLOCK = new ThreadLocal<>();

  static final ThreadLocal<Duration> DEDUP_WINDOW = new ThreadLocal<>();

  private BrokenStores() {}

  /** The reference, to be broken in one place. */
  abstract static class Broken extends MemoryOutboxStore {
    Broken() {
      super(CLOCK.get(), DEDUP_WINDOW.get());
    }

    /** As {@code insert} by plain SQL would make it. */
    Row rawRow(OutboxMessage message) {
      return newRow(message.key(), message);
    }
  }

  /** Writes outside the caller's transaction. */
  @Rule("A1")
  static final class KeepsWhatIsRolledBack extends Broken {
    @Override
    synchronized void rollback(MemoryTransaction transaction) {
      MemoryTransaction own = begin();
      own.rows.addAll(transaction.rows);
      own.rows.removeIf(row -> row.message == null || row.message.dedupKey() != null);
      super.rollback(transaction);
      commit(own);
    }
  }

  /** Takes a connection in auto-commit for a transaction. */
  @Rule("A2")
  static final class AppendsWithoutTransaction extends Broken {
    @Override
    public synchronized Set<UUID> append(
        MemoryTransaction transaction, List<OutboxMessage> messages) {
      if (transaction.active) {
        return super.append(transaction, messages);
      }
      MemoryTransaction own = begin();
      Set<UUID> duplicates = super.append(own, messages);
      own.commit();
      return duplicates;
    }
  }

  /** Stores headers as a map. */
  @Rule("A3")
  static final class SortsHeaders extends Broken {
    @Override
    Row newRow(String key, OutboxMessage message) {
      return super.newRow(
          key,
          withHeaders(
              message,
              headers -> headers.stream().sorted(Comparator.comparing(Header::name)).toList()));
    }
  }

  /** Has a collation that ignores case. */
  @Rule("A3")
  static final class MixesUpCase extends Broken {
    @Override
    Row newRow(String key, OutboxMessage message) {
      return super.newRow(key.toLowerCase(Locale.ROOT), message);
    }
  }

  /** Writes dedup keys in a transaction of its own. */
  @Rule("A4")
  static final class RemembersRolledBackDedupKeys extends Broken {
    @Override
    synchronized void rollback(MemoryTransaction transaction) {
      transaction.rows.clear();
      commit(transaction);
    }
  }

  /** Has a column that is too short, and a database that cuts without a word. */
  @Rule("A5")
  static final class CutsHeaders extends Broken {
    @Override
    Row newRow(String key, OutboxMessage message) {
      return super.newRow(
          key, withHeaders(message, headers -> headers.stream().limit(50).toList()));
    }
  }

  /** Computes the key in Java, so that plain SQL has another. */
  @Rule("A6")
  static final class GivesRawRowsOtherKeys extends Broken {
    @Override
    Row rawRow(OutboxMessage message) {
      return newRow(message.id().toString(), message);
    }
  }

  /** Puts rows that are not due yet aside with those that wait for a failed one. */
  @Rule("A6")
  static final class LosesRawRowsThatAreNotDue extends Broken {
    private final List<Row> raw = new CopyOnWriteArrayList<>();

    @Override
    Row rawRow(OutboxMessage message) {
      Row row = super.rawRow(message);
      raw.add(row);
      return row;
    }

    @Override
    List<Row> due(Key key, Instant now) {
      raw.stream()
          .filter(row -> row.key.equals(key.name) && !row.isDue(now))
          .forEach(row -> row.dueAt = Instant.MAX);
      return super.due(key, now);
    }
  }

  /** Leases messages instead of keys: with new messages, a key can be claimed a second time. */
  @Rule("C1")
  static final class LeasesMessages extends Broken {
    @Override
    boolean isFree(Key key, Instant now) {
      return super.isFree(key, now)
          || (key.holder != null && key.live().size() > key.holder.rows.get(key).size());
    }
  }

  /** Reads by something else than the sequence when there is much. */
  @Rule("C2")
  static final class LeavesGaps extends Broken {
    @Override
    List<Row> due(Key key, Instant now) {
      List<Row> due = new ArrayList<>(super.due(key, now));
      if (due.size() > 50) {
        due.remove(1);
      }
      return due;
    }
  }

  /** Has a database that locks the table for a transaction with many rows. */
  @Rule("C3")
  static final class WaitsForLargeTransactions extends Broken {
    private final List<MemoryTransaction> begun = new CopyOnWriteArrayList<>();

    @Override
    public MemoryTransaction begin() {
      MemoryTransaction transaction = super.begin();
      begun.add(transaction);
      return transaction;
    }

    @Override
    public synchronized Claim claim(ClaimRequest request) {
      begun.removeIf(transaction -> !transaction.active);
      while (begun.stream().anyMatch(t -> t.active && t.rows.size() >= 100)) {
        try {
          wait();
        } catch (InterruptedException e) {
          throw new OutboxException("interrupted", e);
        }
      }
      return super.claim(request);
    }
  }

  /** Compares the time where it should compare the holder. */
  @Rule("C4")
  static final class RefusesLateSettles extends Broken {
    @Override
    boolean holds(MemoryClaim claim, Key key) {
      return super.holds(claim, key) && key.isLeased(now());
    }
  }

  /** Always begins at the same key. */
  @Rule("C6")
  static final class ServesTheFirstKeys extends Broken {
    @Override
    void moveToEnd(Key key) {}
  }

  /** Comes back to what failed when there is little else to do. */
  @Rule("C6")
  static final class RetriesWhenIdle extends Broken {
    @Override
    boolean isFree(Key key, Instant now) {
      boolean retried = key.live().stream().anyMatch(row -> row.failed);
      return super.isFree(key, now) && !(retried && keys.size() > 100);
    }
  }

  /** Decodes in the claim, and does not expect that to fail. */
  @Rule("C7")
  static final class ThrowsForUndecodable extends Broken {
    @Override
    List<Row> due(Key key, Instant now) {
      List<Row> due = super.due(key, now);
      if (due.stream().anyMatch(row -> row.message == null)) {
        throw new OutboxException("unexpected end of headers");
      }
      return due;
    }
  }

  /** Finds out that it lost the key when it has changed it already. */
  @Rule("S1")
  static final class SettlesWhatItLost extends Broken {
    @Override
    synchronized Set<Long> settle(MemoryClaim claim, Map<Long, Decision> decisions) {
      Set<Long> lost = super.settle(claim, decisions);
      claim.rows.forEach(
          (key, rows) -> {
            for (Row row : rows) {
              Decision decision = decisions.get(row.sequence);
              if (lost.contains(row.sequence)
                  && key.rows.containsKey(row.sequence)
                  && !(decision instanceof Decision.Dead)) {
                apply(key, row, decision, false);
              }
            }
          });
      return lost;
    }
  }

  /** Knows by its attempts whether a message is as it was claimed; and a requeue forgets them. */
  @Rule("S1")
  static final class UndoesRequeues extends Broken {
    private final Set<Claim> goneOn = ConcurrentHashMap.newKeySet();

    @Override
    public Settled settleAndClaim(Claim done, Map<Long, Decision> decisions, ClaimRequest next) {
      Settled settled = super.settleAndClaim(done, decisions, next);
      goneOn.add(done);
      return settled;
    }

    @Override
    synchronized Set<Long> settle(MemoryClaim claim, Map<Long, Decision> decisions) {
      Set<Long> lost = super.settle(claim, decisions);
      if (goneOn.contains(claim)) {
        claim.rows.forEach((key, rows) -> rows.forEach(row -> again(key, row, decisions)));
      }
      return lost;
    }

    private void again(Key key, Row row, Map<Long, Decision> decisions) {
      if (key.rows.containsKey(row.sequence) && !row.dead && row.attempts == 0) {
        apply(key, row, decisions.get(row.sequence), false);
      }
    }
  }

  /** Keeps a key for what comes next, and what it settled may be settled again. */
  @Rule("S1")
  static final class CountsTwiceAfterALostReply extends Broken {
    private final Set<Claim> goneOn = ConcurrentHashMap.newKeySet();

    @Override
    public Settled settleAndClaim(Claim done, Map<Long, Decision> decisions, ClaimRequest next) {
      Settled settled = super.settleAndClaim(done, decisions, next);
      goneOn.add(done);
      return settled;
    }

    @Override
    synchronized Set<Long> settle(MemoryClaim claim, Map<Long, Decision> decisions) {
      Set<Long> lost = super.settle(claim, decisions);
      if (goneOn.contains(claim)) {
        claim.rows.forEach(
            (key, rows) ->
                rows.stream()
                    .filter(row -> decisions.get(row.sequence) instanceof Decision.Retry)
                    .forEach(row -> row.attempts++));
      }
      return lost;
    }
  }

  /** Finds what it settles by key and sequence. */
  @Rule("S1")
  static final class KnowsMessagesBySequence extends Broken {
    @Override
    synchronized Set<Long> settle(MemoryClaim claim, Map<Long, Decision> decisions) {
      Set<Long> lost = super.settle(claim, decisions);
      claim.rows.forEach(
          (key, rows) -> {
            Key now = keys.get(key.name);
            for (Row row : rows) {
              Row same = now == null ? null : now.rows.get(row.sequence);
              if (same != null && same != row) {
                apply(now, same, decisions.get(row.sequence), false);
              }
            }
          });
      return lost;
    }
  }

  /** Looks at what it is given only where it settles and does nothing else. */
  @Rule("S1")
  static final class GoesOnWithUnknownSequences extends Broken {
    @Override
    public Settled settleAndClaim(Claim done, Map<Long, Decision> decisions, ClaimRequest next) {
      Map<Long, Decision> known = new HashMap<>(decisions);
      known.keySet().retainAll(done.messages().stream().map(StoredMessage::sequence).toList());
      return super.settleAndClaim(done, known, next);
    }
  }

  /** Does not keep the error. */
  @Rule("S2")
  static final class ForgetsTheError extends Broken {
    @Override
    void apply(Key key, Row row, Decision decision, boolean countedBefore) {
      super.apply(key, row, decision, countedBefore);
      row.error = null;
    }
  }

  /** Carries out the decisions of a key up to the first that is not delivered. */
  @Rule("S2")
  static final class StopsAtTheFirstFailure extends Broken {
    @Override
    void apply(Key key, Row row, Decision decision, boolean countedBefore) {
      boolean failedBefore =
          key.rows.headMap(row.sequence).values().stream().anyMatch(r -> r.failed && !r.dead);
      super.apply(key, row, failedBefore ? null : decision, countedBefore);
    }
  }

  /** Keeps a busy key until its lease ends. */
  @Rule("S3")
  static final class KeepsBusyKeys extends Broken {
    @Override
    void release(Key key) {
      if (key.live().size() < 45) {
        super.release(key);
      }
    }
  }

  /** Takes a crashed relay's word for what it had not settled. */
  @Rule("S4")
  static final class LosesWhatACrashedRelayHeld extends Broken {
    @Override
    List<Row> due(Key key, Instant now) {
      if (key.holder != null && key.holder.rows.size() > 1 && key.live().size() > 1) {
        List<Row> live = key.live();
        key.rows.remove(live.get(live.size() - 1).sequence);
      }
      return super.due(key, now);
    }
  }

  /** Stores error texts as they come. */
  @Rule("S5")
  static final class FailsOnStrangeErrors extends Broken {
    @Override
    void apply(Key key, Row row, Decision decision, boolean countedBefore) {
      if (decision instanceof Decision.Retry retry && retry.error().indexOf('\0') >= 0) {
        throw new OutboxException("invalid byte sequence: 0x00");
      }
      super.apply(key, row, decision, countedBefore);
    }
  }

  /** Adds a delay as it comes. */
  @Rule("S5")
  static final class DoesNotClampDelays extends Broken {
    @Override
    Duration clamp(Duration delay) {
      return delay;
    }
  }

  /** Takes the head for in flight after a crash, and begins at the one behind it. */
  @Rule("O1")
  static final class SkipsTheHeadAfterACrash extends Broken {
    @Override
    List<Row> due(Key key, Instant now) {
      List<Row> due = super.due(key, now);
      return key.holder != null && due.size() >= 4 ? due.subList(1, due.size()) : due;
    }
  }

  /** Parks messages that were unavailable, and forgets whom they hold back. */
  @Rule("O2")
  static final class LetsOthersPassTheUnavailable extends Broken {
    @Override
    List<Row> due(Key key, Instant now) {
      Key others = new Key(key.name);
      others.rows.putAll(key.rows);
      others
          .rows
          .values()
          .removeIf(r -> r.failed && r.attempts == 0 && r.dueAt.isAfter(now.plusSeconds(60)));
      return others.due(now);
    }
  }

  /** Tells a head that failed from others by its attempts. */
  @Rule("O2")
  static final class BringsFollowersOfTheUnavailable extends Broken {
    @Override
    List<Row> due(Key key, Instant now) {
      List<Row> due = super.due(key, now);
      boolean wrong = due.size() == 1 && due.get(0).failed && due.get(0).attempts == 0;
      return wrong
          ? key.live().stream()
              .takeWhile(row -> !row.failed || row == due.get(0))
              .filter(row -> row.isDue(now))
              .toList()
          : due;
    }
  }

  /** Moves aside what waits when a key is blocked, and forgets what is appended later. */
  @Rule("O3")
  static final class LetsLaterAppendsPassABlockedKey extends Broken {
    @Override
    List<Row> due(Key key, Instant now) {
      for (Row blocker : key.rows.values()) {
        if (blocker.dead && blocker.blocksKey) {
          return key.live().stream()
              .filter(row -> row.isDue(now) && row.createdAt.isAfter(blocker.failedAt))
              .toList();
        }
      }
      return super.due(key, now);
    }
  }

  /** Keeps with the key that it is blocked, but not by which dead letter. */
  @Rule("O3")
  static final class FreesAKeyByAnyDecision extends Broken {
    @Override
    public synchronized boolean requeue(long sequence) {
      free(sequence);
      return super.requeue(sequence);
    }

    @Override
    public synchronized boolean discard(long sequence) {
      free(sequence);
      return super.discard(sequence);
    }

    private void free(long sequence) {
      for (Key key : keys.values()) {
        if (key.rows.containsKey(sequence)) {
          key.rows.values().forEach(row -> row.blocksKey = false);
        }
      }
    }
  }

  /** Takes the oldest message of a key for its head, due or not. */
  @Rule("O4")
  static final class HoldsBackBehindDelayed extends Broken {
    @Override
    List<Row> due(Key key, Instant now) {
      List<Row> live = key.live();
      return live.isEmpty() || live.get(0).isDue(now) ? super.due(key, now) : List.of();
    }
  }

  private static OutboxMessage withHeaders(OutboxMessage m, UnaryOperator<List<Header>> change) {
    if (m == null || m.headers().isEmpty()) {
      return m;
    }
    return OutboxMessage.builder()
        .id(m.id())
        .aggregate(m.aggregateType(), m.aggregateId())
        .eventType(m.eventType())
        .partitionKey(m.partitionKey())
        .payload(m.payload())
        .contentType(m.contentType())
        .headers(change.apply(m.headers()))
        .dedupKey(m.dedupKey())
        .correlationId(m.correlationId())
        .availableAt(m.availableAt())
        .deliverAfter(m.deliverAfter())
        .build();
  }
}
