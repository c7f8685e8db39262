package dev.outbox.store.memory;

import static java.util.Objects.requireNonNull;

import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.Inbox.InProgressException;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.store.memory.InboxEntry.State;
import dev.outbox.tck.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Inboxes that break one rule each, which the tests of just that rule must notice. Each is a
 * mistake that was made somewhere, and narrow enough that the other rules hold.
 */
public final class BrokenInboxes {
  /** What the inbox that is made next in this thread is made with. */
  static final ThreadLocal<MemoryOutboxStore> DATABASE = new ThreadLocal<>();

  static final ThreadLocal<Duration> RETENTION = new ThreadLocal<>();

  private BrokenInboxes() {}

  /** The reference, to be broken in one place. */
  abstract static class Broken extends MemoryInboxStore {
    Broken() {
      super(DATABASE.get(), RETENTION.get());
    }
  }

  /** One that keeps in another way what it knows of a key. */
  abstract static class KeepsOtherwise extends Broken {
    /**
     * @param before what it knew until now
     */
    abstract InboxEntry changed(@Nullable InboxEntry before, InboxEntry entry);

    @Override
    void put(@Nullable MemoryTransaction transaction, InboxKey key, InboxEntry entry) {
      super.put(transaction, key, changed(entries.get(key), entry));
    }

    static InboxEntry with(InboxEntry entry, UUID token, int attempts) {
      return new InboxEntry(
          entry.state(),
          token,
          entry.lockUntil(),
          attempts,
          entry.fingerprint(),
          entry.result(),
          entry.error(),
          entry.expiresAt());
    }
  }

  // ---- I1

  /** Records in a transaction of its own. */
  @Rule("I1")
  static final class KeepsWhatIsRolledBack extends Broken {
    @Override
    void put(@Nullable MemoryTransaction transaction, InboxKey key, InboxEntry entry) {
      boolean isNew = entry.state() == State.DONE && !entries.containsKey(key);
      super.put(isNew ? null : transaction, key, entry);
    }
  }

  /** Stores what is more than a byte by a connection of its own. */
  @Rule("I1")
  static final class CompletesWhatIsRolledBack extends Broken {
    @Override
    void put(@Nullable MemoryTransaction transaction, InboxKey key, InboxEntry entry) {
      InboxEntry before = entries.get(key);
      boolean completes =
          before != null && before.state() == State.STARTED && before.token().equals(entry.token());
      boolean large = entry.result().content().length > 1;
      super.put(completes && large ? null : transaction, key, entry);
    }
  }

  /** Takes a connection in auto-commit for a transaction. */
  @Rule("I1")
  static final class RecordsWithoutTransaction extends Broken {
    @Override
    public boolean firstTime(MemoryTransaction transaction, InboxKey key) {
      if (transaction.isActive()) {
        return super.firstTime(transaction, key);
      }
      MemoryTransaction own = database.begin();
      boolean first = super.firstTime(own, key);
      own.commit();
      return first;
    }
  }

  /** Has a collation that ignores case. */
  @Rule("I1")
  static final class MixesUpCase extends Broken {
    @Override
    public boolean firstTime(MemoryTransaction transaction, InboxKey key) {
      String id = key.messageId();
      return super.firstTime(
          transaction,
          id.length() == 1 ? new InboxKey(key.consumer(), id.toLowerCase(Locale.ROOT)) : key);
    }
  }

  /** One message is one message, whoever has it. */
  @Rule("I1")
  static final class ForgetsTheConsumer extends Broken {
    private static InboxKey common(InboxKey key) {
      return new InboxKey("everybody", key.messageId());
    }

    @Override
    void put(@Nullable MemoryTransaction transaction, InboxKey key, InboxEntry entry) {
      super.put(transaction, common(key), entry);
    }

    @Override
    @Nullable InboxEntry awaitEntry(@Nullable MemoryTransaction transaction, InboxKey key) {
      return super.awaitEntry(transaction, common(key));
    }
  }

  /** Cuts what is longer than its column, and looks for the whole. */
  @Rule("I1")
  static final class CutsKeys extends Broken {
    @Override
    void put(@Nullable MemoryTransaction transaction, InboxKey key, InboxEntry entry) {
      String id = key.messageId();
      String cut = id.substring(0, Math.min(200, id.length()));
      super.put(transaction, new InboxKey(key.consumer(), cut), entry);
    }
  }

  /** Inserts, and takes the error for an answer, after which the transaction is over. */
  @Rule({"I1", "I2"})
  static final class EndsTheTransaction extends Broken {
    @Override
    public boolean firstTime(MemoryTransaction transaction, InboxKey key) {
      boolean first = super.firstTime(transaction, key);
      if (!first) {
        transaction.rollback();
      }
      return first;
    }
  }

  // ---- I2

  /** Looks, and then inserts: what others have not committed is not seen. */
  @Rule("I2")
  static final class LooksThenRecords extends Broken {
    private final Map<InboxKey, MemoryTransaction> recordedBy = new HashMap<>();

    @Override
    void put(@Nullable MemoryTransaction transaction, InboxKey key, InboxEntry entry) {
      super.put(transaction, key, entry);
      recordedBy.put(key, transaction);
    }

    @Override
    @Nullable InboxEntry awaitEntry(@Nullable MemoryTransaction transaction, InboxKey key) {
      return isBeingChanged(key) && recordedBy.get(key) != transaction ? null : entries.get(key);
    }

    @Override
    public boolean firstTime(MemoryTransaction transaction, InboxKey key) {
      boolean first = super.firstTime(transaction, key);
      LockSupport.parkNanos(1_000_000); // the way to a database takes time, so transactions meet
      return first;
    }
  }

  /** Believes what is not committed. */
  @Rule("I2")
  static final class ReadsWhatIsNotCommitted extends Broken {
    @Override
    @Nullable InboxEntry awaitEntry(@Nullable MemoryTransaction transaction, InboxKey key) {
      return entries.get(key);
    }
  }

  /** Has one lock for all keys. */
  @Rule("I2")
  static final class LocksTheTable extends Broken {
    private @Nullable MemoryTransaction writer;

    @Override
    public boolean firstTime(MemoryTransaction transaction, InboxKey key) {
      synchronized (database) {
        for (MemoryTransaction other = writer;
            other != null && other.active && other != transaction && transaction.active;
            other = writer) {
          other.awaitEnd(transaction);
        }
        writer = transaction;
        return super.firstTime(transaction, key);
      }
    }
  }

  // ---- I3

  /** Gives a lock that is renewed another end. */
  abstract static class RenewsOtherwise extends KeepsOtherwise {
    abstract Instant lockUntil(InboxEntry before, Instant renewed);

    @Override
    InboxEntry changed(@Nullable InboxEntry before, InboxEntry entry) {
      return before != null
              && entry.state() == State.STARTED
              && before.token().equals(entry.token())
          ? before.renewed(lockUntil(before, entry.lockUntil()), entry.expiresAt())
          : entry;
    }
  }

  /** Says that it renewed a lock, and did not. */
  @Rule("I3")
  static final class DoesNotRenew extends RenewsOtherwise {
    @Override
    Instant lockUntil(InboxEntry before, Instant renewed) {
      return before.lockUntil();
    }
  }

  /** Writes milliseconds where the database takes microseconds. */
  @Rule("I3")
  static final class RenewsForAThousandth extends RenewsOtherwise {
    @Override
    Instant lockUntil(InboxEntry before, Instant renewed) {
      return now().plus(Duration.between(now(), renewed).dividedBy(1_000));
    }
  }

  /** Takes a lock of minutes for one of seconds. */
  @Rule("I3")
  static final class CutsLocksShort extends Broken {
    @Override
    boolean isLocked(InboxEntry entry, Instant now) {
      return super.isLocked(entry, now.plus(Duration.ofSeconds(50)));
    }
  }

  /** Any duration will do. */
  @Rule("I3")
  static final class TakesAnyDuration extends Broken {
    @Override
    public Begin<MemoryTransaction> begin(InboxKey key, Duration lock, Fingerprint fingerprint) {
      boolean isShort = lock.compareTo(Duration.ofMillis(1)) < 0;
      return super.begin(key, isShort ? Duration.ofMillis(1) : lock, fingerprint);
    }
  }

  /** Looks whether somebody has the lock, and takes it then. */
  @Rule("I3")
  static final class LooksThenLocks extends Broken {
    private final ThreadLocal<Boolean> free = ThreadLocal.withInitial(() -> false);

    @Override
    public Begin<MemoryTransaction> begin(InboxKey key, Duration lock, Fingerprint fingerprint) {
      synchronized (database) {
        InboxEntry entry = entries.get(key);
        free.set(entry == null || !isLocked(entry, now()));
      }
      LockSupport.parkNanos(200_000); // as LooksThenRecords
      Begin<MemoryTransaction> begin = super.begin(key, lock, fingerprint);
      free.remove();
      return begin;
    }

    @Override
    boolean isLocked(InboxEntry entry, Instant now) {
      return super.isLocked(entry, now) && !free.get();
    }
  }

  /** Compares the end of a lock with the client's clock. */
  @Rule("I3")
  static final class ComparesLocksWithTheClientsClock extends Broken {
    @Override
    boolean isLocked(InboxEntry entry, Instant now) {
      return super.isLocked(entry, Instant.now());
    }
  }

  // ---- I4

  /** A lock is held until it is completed or released. */
  @Rule("I4")
  static final class LocksForEver extends Broken {
    @Override
    boolean isLocked(InboxEntry entry, Instant now) {
      return entry.state() == State.STARTED
          && (super.isLocked(entry, now)
              || Duration.between(entry.lockUntil(), now).compareTo(Duration.ofMinutes(1)) < 0);
    }
  }

  /** Whoever comes may complete. */
  @Rule("I4")
  static final class KnowsNoToken extends Broken {
    @Override
    boolean holds(UUID token, @Nullable InboxEntry entry) {
      return entry != null && entry.state() == State.STARTED;
    }
  }

  /** A lock that ran out is lost at once. */
  @Rule("I4")
  static final class RefusesLateOnes extends Broken {
    @Override
    boolean holds(UUID token, @Nullable InboxEntry entry) {
      return super.holds(token, entry) && isLocked(requireNonNull(entry), now());
    }
  }

  /** Says of what it did that it did not. */
  @Rule("I4")
  static final class ForgetsWhoEnded extends KeepsOtherwise {
    @Override
    InboxEntry changed(@Nullable InboxEntry before, InboxEntry entry) {
      return entry.state() == State.STARTED
          ? entry
          : with(entry, UUID.randomUUID(), entry.attempts());
    }
  }

  /** Takes over by begin, and not by firstTime. */
  @Rule("I4")
  static final class NeverRecordsWhatWasBegun extends Broken {
    @Override
    public boolean firstTime(MemoryTransaction transaction, InboxKey key) {
      InboxEntry entry = entries.get(key);
      if (entry != null && entry.state() == State.STARTED) {
        throw new InProgressException(key, Duration.ofSeconds(1));
      }
      return super.firstTime(transaction, key);
    }
  }

  // ---- I5

  /** Lock and result are one thing: whatever is there is done. */
  @Rule("I5")
  static final class TakesLockedForDone extends Broken {
    @Override
    public Begin<MemoryTransaction> begin(InboxKey key, Duration lock, Fingerprint fingerprint) {
      Begin<MemoryTransaction> begin = super.begin(key, lock, fingerprint);
      return begin instanceof Begin.InProgress<MemoryTransaction> progress
              && progress.left().compareTo(Duration.ofHours(1)) > 0
          ? new Begin.Done<>(InboxResult.none())
          : begin;
    }
  }

  /** A duplicate is a duplicate. */
  @Rule("I5")
  static final class TakesLockedForRecorded extends Broken {
    @Override
    public boolean firstTime(MemoryTransaction transaction, InboxKey key) {
      try {
        return super.firstTime(transaction, key);
      } catch (InProgressException e) {
        if (e.left().compareTo(Duration.ofHours(1)) < 0) {
          throw e;
        }
        return false;
      }
    }
  }

  /** Says a time that means nothing. */
  @Rule("I5")
  static final class KnowsNoTimeLeft extends Broken {
    @Override
    public Begin<MemoryTransaction> begin(InboxKey key, Duration lock, Fingerprint fingerprint) {
      Begin<MemoryTransaction> begin = super.begin(key, lock, fingerprint);
      return begin instanceof Begin.InProgress<MemoryTransaction>
          ? new Begin.InProgress<>(Duration.ZERO)
          : begin;
    }
  }

  // ---- I6

  /** What an inbox makes of the entry of a key that is completed. */
  abstract static class ChangesWhatIsDone extends KeepsOtherwise {
    abstract InboxResult changed(InboxResult result);

    @Override
    InboxEntry changed(@Nullable InboxEntry before, InboxEntry entry) {
      return entry.state() == State.DONE
          ? entry.done(changed(entry.result()), entry.expiresAt())
          : entry;
    }
  }

  /** Stores a content as a text of a C program. */
  @Rule("I6")
  static final class EndsAtNul extends ChangesWhatIsDone {
    @Override
    InboxResult changed(InboxResult result) {
      byte[] content = result.content();
      int end = content.length > 0 && content[0] == 0 ? 0 : content.length;
      return InboxResult.of(Arrays.copyOf(content, end), result.contentType());
    }
  }

  /** Stores half of what is large. */
  @Rule("I6")
  static final class CutsResults extends ChangesWhatIsDone {
    @Override
    InboxResult changed(InboxResult result) {
      return InboxResult.of(
          Arrays.copyOf(result.content(), Math.min(65_535, result.content().length)),
          result.contentType());
    }
  }

  /** Has a default that nobody asked for. */
  @Rule("I6")
  static final class InventsContentTypes extends ChangesWhatIsDone {
    @Override
    InboxResult changed(InboxResult result) {
      return result.content().length > 0 && result.contentType() == null
          ? InboxResult.of(result.content(), "application/octet-stream")
          : result;
    }
  }

  /** The last result counts. */
  @Rule("I6")
  static final class OverwritesResults extends Broken {
    @Override
    boolean holds(UUID token, @Nullable InboxEntry entry) {
      return super.holds(token, entry)
          || (entry != null
              && entry.state() == State.DONE
              && entry.token().equals(token)
              && isCompleting());
    }

    private static boolean isCompleting() {
      return StackWalker.getInstance()
          .walk(frames -> frames.anyMatch(frame -> frame.getMethodName().equals("complete")));
    }
  }

  /** Has a table for what was recorded, and another for what was begun. */
  @Rule("I6")
  static final class RecordsWhatWasCompleted extends Broken {
    @Override
    public boolean firstTime(MemoryTransaction transaction, InboxKey key) {
      InboxEntry entry = entries.get(key);
      boolean completed =
          entry != null && entry.state() == State.DONE && entry.result().content().length > 0;
      return completed || super.firstTime(transaction, key);
    }
  }

  /** A failed message waits for the end of its lock. */
  @Rule("I6")
  static final class KeepsWhatIsReleased extends Broken {
    @Override
    boolean isLocked(InboxEntry entry, Instant now) {
      return super.isLocked(entry, now)
          || (entry.state() == State.FAILED
              && entry.attempts() == 4
              && entry.lockUntil().plus(LONG_ENOUGH).isAfter(now));
    }

    private static final Duration LONG_ENOUGH = Duration.ofMinutes(1);
  }

  /** Gives the attempt back with the lock, from the second on. */
  @Rule("I6")
  static final class TakesAttemptsBack extends KeepsOtherwise {
    @Override
    InboxEntry changed(@Nullable InboxEntry before, InboxEntry entry) {
      return entry.state() == State.FAILED
          ? with(entry, entry.token(), Math.max(1, entry.attempts() - 1))
          : entry;
    }
  }

  // ---- I7

  /** Compares nothing once it is done. */
  @Rule("I7")
  static final class ComparesOnlyInProgress extends Broken {
    @Override
    boolean differ(Fingerprint fingerprint, InboxEntry entry) {
      return entry.state() != State.DONE && super.differ(fingerprint, entry);
    }
  }

  /** Compares only what is done. */
  @Rule("I7")
  static final class ComparesOnlyDone extends Broken {
    @Override
    boolean differ(Fingerprint fingerprint, InboxEntry entry) {
      return entry.state() == State.DONE && super.differ(fingerprint, entry);
    }
  }

  /** Takes over with whatever comes. */
  @Rule("I7")
  static final class ForgetsFingerprints extends Broken {
    @Override
    boolean differ(Fingerprint fingerprint, InboxEntry entry) {
      return (entry.state() == State.DONE || isLocked(entry, now()))
          && super.differ(fingerprint, entry);
    }
  }

  /** Compares the first bytes. */
  @Rule("I7")
  static final class CutsFingerprints extends Broken {
    private static Fingerprint cut(Fingerprint fingerprint) {
      byte[] bytes = fingerprint.bytes();
      return Fingerprint.ofHash(Arrays.copyOf(bytes, Math.min(32, bytes.length)));
    }

    @Override
    boolean differ(Fingerprint fingerprint, InboxEntry entry) {
      return cut(fingerprint).differsFrom(cut(entry.fingerprint()));
    }
  }

  /** No fingerprint is a fingerprint. */
  @Rule("I7")
  static final class ComparesNothingToo extends Broken {
    @Override
    boolean differ(Fingerprint fingerprint, InboxEntry entry) {
      return !fingerprint.equals(entry.fingerprint())
          && (!entry.fingerprint().equals(Fingerprint.none()) || entry.state() == State.FAILED);
    }
  }

  // ---- I8

  /** Purges all that is done. */
  @Rule("I8")
  static final class PurgesWhatIsDone extends Broken {
    @Override
    boolean mayBeForgotten(InboxEntry entry, Instant now) {
      return entry.state() == State.DONE;
    }
  }

  /** Counts from when the key was begun. */
  @Rule("I8")
  static final class CountsFromTheBegin extends KeepsOtherwise {
    private final Map<UUID, Instant> begun = new HashMap<>();

    @Override
    InboxEntry changed(@Nullable InboxEntry before, InboxEntry entry) {
      Instant since = begun.computeIfAbsent(entry.token(), token -> now());
      return entry.state() == State.DONE ? entry.done(entry.result(), expiry(since)) : entry;
    }
  }

  /** Purges what is old, locks too. */
  @Rule("I8")
  static final class PurgesLiveLocks extends Broken {
    @Override
    Instant expiry(Instant from) {
      Instant soonest = now().plus(retention);
      return super.expiry(from).isAfter(soonest) ? soonest : super.expiry(from);
    }
  }

  /** Is tidy only where all went well. */
  @Rule("I8")
  static final class KeepsWhatWasGivenUp extends Broken {
    @Override
    boolean mayBeForgotten(InboxEntry entry, Instant now) {
      return entry.state() == State.DONE && super.mayBeForgotten(entry, now);
    }
  }

  /** Never purges. */
  @Rule("I8")
  static final class PurgesNothing extends Broken {
    @Override
    public void housekeep() {}
  }

  /** Deletes what somebody has changed, when he has committed. */
  @Rule("I8")
  static final class PurgeWaits extends Broken {
    @Override
    public void housekeep() {
      synchronized (database) {
        for (InboxKey key : entries.keySet().toArray(InboxKey[]::new)) {
          InboxEntry ignored = awaitEntry(null, key);
        }
        super.housekeep();
      }
    }
  }

  // ---- others

  /** Counts without end. */
  @Rule("F1")
  static final class KnowsNoCap extends Broken {
    @Override
    public InboxStatistics statistics(int cap) {
      InboxStatistics all = super.statistics(Integer.MAX_VALUE);
      return new InboxStatistics(cap, all.inProgress(), all.expiredLocks(), all.failed());
    }
  }

  /** Takes a lock that ran out for one that lasts. */
  @Rule("F1")
  static final class CountsDeadLocks extends Broken {
    @Override
    public InboxStatistics statistics(int cap) {
      InboxStatistics right = super.statistics(cap);
      return new InboxStatistics(cap, right.inProgress() + right.expiredLocks(), 0, right.failed());
    }
  }
}
