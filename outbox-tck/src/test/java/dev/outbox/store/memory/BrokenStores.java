package dev.outbox.store.memory;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.outbox.Appended;
import dev.outbox.Archive;
import dev.outbox.Header;
import dev.outbox.InvalidMessageException;
import dev.outbox.OutboxMessage;
import dev.outbox.PermanentOutboxException;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.KeepingStore.Uncommitted.Committed;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Decisions;
import dev.outbox.tck.store.RawRows.RawRow;
import java.text.Normalizer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Stores that break one rule each, which the tests of just that rule must notice. Each is a mistake
 * that was made somewhere, and narrow enough that the other rules hold; a few common ones are not,
 * and name what else they break. What the suite says to some of them stands in {@code docs/tck.md}.
 */
public final class BrokenStores {
  /** What the store that is made next in this thread is made with. */
  static final ThreadLocal<InstantSource> CLOCK = new ThreadLocal<>();

  static final ThreadLocal<Duration> DEDUP_WINDOW = new ThreadLocal<>();

  static final ThreadLocal<Archive> ARCHIVE = new ThreadLocal<>();
  static final ThreadLocal<@Nullable Duration> DEAD_LETTER_RETENTION = new ThreadLocal<>();

  private BrokenStores() {}

  /** The reference, to be broken in one place. */
  abstract static class Broken extends MemoryOutboxStore {
    Broken() {
      this(DEDUP_WINDOW.get());
    }

    Broken(Duration dedupWindow) {
      super(CLOCK.get(), dedupWindow, ARCHIVE.get(), DEAD_LETTER_RETENTION.get());
    }

    /** What the clock of the client that calls shows beyond the store's. */
    Duration clientIsAhead = Duration.ZERO;

    /** So many writes from now the connection breaks; 0 or less: it does not. */
    int writesLeft;

    final void breakNowAndThen() {
      if (--writesLeft == 0) {
        throw new TransientOutboxException("the connection broke");
      }
    }

    /** As {@code insert} by plain SQL would make it. */
    Row rawRow(RawRow row) {
      return newRow(row.message().key(), row.message());
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

  /** A store that knows which transactions are open. */
  abstract static class KnowsWhatIsOpen extends Broken {
    private final List<MemoryTransaction> begun = new CopyOnWriteArrayList<>();

    @Override
    public MemoryTransaction begin() {
      begun.removeIf(transaction -> !transaction.active);
      MemoryTransaction transaction = super.begin();
      begun.add(transaction);
      return transaction;
    }

    /** The rows of each. */
    final Stream<List<Row>> open() {
      return begun.stream().filter(transaction -> transaction.active).map(t -> t.rows);
    }
  }

  /** Reads what is not committed when there is nothing else. */
  @Rule("A1")
  static final class ClaimsWhatIsOpen extends KnowsWhatIsOpen {
    @Override
    MemoryClaim claim(MemoryClaim claim, Claim.Request request) {
      if (keys.isEmpty()) {
        open()
            .forEach(
                rows -> {
                  rows.forEach(row -> claim.add(new Key(row.key), row, row.toStored()));
                  rows.clear();
                });
      }
      return super.claim(claim, request);
    }
  }

  /** Takes a connection in auto-commit for a transaction. */
  @Rule("A2")
  static final class AppendsWithoutTransaction extends Broken {
    @Override
    public synchronized Appended append(
        MemoryTransaction transaction, List<OutboxMessage> messages) {
      if (transaction.active) {
        return super.append(transaction, messages);
      }
      MemoryTransaction own = begin();
      Appended appended = super.append(own, messages);
      own.commit();
      return appended;
    }
  }

  /** Commits what the transaction has appended before. */
  @Rule("A2")
  static final class CommitsAtTheNextAppend extends Broken {
    @Override
    public synchronized Appended append(
        MemoryTransaction transaction, List<OutboxMessage> messages) {
      MemoryTransaction own = begin();
      own.rows.addAll(transaction.rows);
      transaction.rows.clear();
      own.commit();
      return super.append(transaction, messages);
    }
  }

  /** Names the sequences of an append by their place in it. */
  @Rule("A4")
  static final class NamesWrongSequences extends Broken {
    @Override
    public synchronized Appended append(
        MemoryTransaction transaction, List<OutboxMessage> messages) {
      Appended appended = super.append(transaction, messages);
      Map<UUID, Long> sequences = new HashMap<>();
      messages.forEach(message -> sequences.put(message.id(), (long) sequences.size()));
      return new Appended(appended.stored(), appended.duplicates(), sequences);
    }
  }

  /** A store that keeps messages in another way than they were appended. */
  abstract static class KeepsOtherwise extends Broken {
    abstract OutboxMessage changed(OutboxMessage message);

    @Override
    Row newRow(String key, @Nullable OutboxMessage message) {
      return super.newRow(key, message == null ? null : changed(message));
    }
  }

  /** Knows no most attempts. */
  @Rule("A3")
  static final class ForgetsMostAttempts extends KeepsOtherwise {
    @Override
    OutboxMessage changed(OutboxMessage message) {
      return bare(message).addHeaders(message.headers()).build();
    }
  }

  /** Stores headers as a map. */
  @Rule("A3")
  static final class SortsHeaders extends KeepsOtherwise {
    @Override
    OutboxMessage changed(OutboxMessage message) {
      return withHeaders(
          message, headers -> headers.stream().sorted(Comparator.comparing(Header::name)).toList());
    }
  }

  /** Takes invoices for orders. */
  @Rule("A3")
  static final class ForgetsTheType extends Broken {
    @Override
    Row newRow(String key, OutboxMessage message) {
      return super.newRow(key.replaceFirst("^invoice/", "order/"), message);
    }
  }

  /** Compares keys by {@code lower(trim(…))}. */
  @Rule("A3")
  static final class TidiesKeys extends Broken {
    @Override
    Row newRow(String key, OutboxMessage message) {
      return super.newRow(key.toLowerCase(Locale.ROOT).replaceAll(" *(/|$) *", "$1"), message);
    }
  }

  /** Has a collation that pads with blanks. */
  @Rule("A3")
  static final class TrimsKeys extends Broken {
    @Override
    Row newRow(String key, OutboxMessage message) {
      return super.newRow(key.strip(), message);
    }
  }

  /** Has a collation that knows how to write an accent. */
  @Rule("A3")
  static final class NormalizesKeys extends Broken {
    @Override
    Row newRow(String key, OutboxMessage message) {
      return super.newRow(Normalizer.normalize(key, Normalizer.Form.NFC), message);
    }
  }

  /** Takes a payload for the text of a C program, unless it begins as none. */
  @Rule({"A3", "A5"})
  static final class EndsPayloadsAtNul extends KeepsOtherwise {
    @Override
    OutboxMessage changed(OutboxMessage message) {
      int end = new String(message.payload(), ISO_8859_1).indexOf(0);
      return end <= 0
          ? message
          : message.toBuilder().payload(Arrays.copyOf(message.payload(), end)).build();
    }
  }

  /** Has times to the millisecond. */
  @Rule("A3")
  static final class CutsTimes extends KeepsOtherwise {
    @Override
    OutboxMessage changed(OutboxMessage message) {
      Instant time = message.availableAt();
      return time == null
          ? message
          : message.toBuilder().availableAt(time.truncatedTo(ChronoUnit.MILLIS)).build();
    }
  }

  /** Has columns of a fixed length, which lose the blanks at the end. */
  @Rule({"A3", "A5"})
  static final class TrimsCorrelationIds extends KeepsOtherwise {
    @Override
    OutboxMessage changed(OutboxMessage message) {
      String id = message.correlationId();
      return id == null ? message : message.toBuilder().correlationId(id.stripTrailing()).build();
    }
  }

  /** Keeps when a delayed message is due, and not with the message. */
  @Rule("A3")
  static final class ForgetsDelays extends Broken {
    @Override
    Row newRow(String key, @Nullable OutboxMessage message) {
      if (message == null || message.deliverAfter() == null) {
        return super.newRow(key, message);
      }
      Row row = super.newRow(key, message.toBuilder().deliverAfter(null).build());
      row.dueAt = row.createdAt.plus(message.deliverAfter());
      return row;
    }
  }

  /** Has dedup keys in the table of messages, and deletes them with these. */
  @Rule("A4")
  static final class ForgetsDedupKeysOfDelivered extends Broken {
    private final Map<String, Integer> delivered = new HashMap<>();

    @Override
    boolean takeDedupKey(String dedupKey, MemoryTransaction transaction) {
      return super.takeDedupKey(delivered.getOrDefault(dedupKey, 0) + dedupKey, transaction);
    }

    @Override
    void leave(Key key, Row row, Outcome outcome, Decision.@Nullable Delivered how) {
      super.leave(key, row, outcome, how);
      if (row.message != null && row.message.dedupKey() != null) {
        delivered.merge(row.message.dedupKey(), 1, Integer::sum);
      }
    }
  }

  /** Does not ask how long dedup keys are to be remembered. */
  @Rule("A4")
  static final class HasOneDedupWindow extends Broken {
    HasOneDedupWindow() {
      super(DEFAULT_DEDUP_WINDOW);
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

  /** Has a collation that ignores case. */
  @Rule("A4")
  static final class MixesUpDedupKeys extends Broken {
    @Override
    boolean takeDedupKey(String dedupKey, MemoryTransaction transaction) {
      return super.takeDedupKey(dedupKey.toLowerCase(Locale.ROOT), transaction);
    }
  }

  /** Looks whether a dedup key is there, and inserts it when it is not. */
  @Rule("A4")
  static class LooksThenInserts extends Broken {
    private final Map<String, MemoryTransaction> inserted = new HashMap<>();

    @Override
    boolean takeDedupKey(String dedupKey, MemoryTransaction transaction) {
      MemoryTransaction by = inserted.get(dedupKey);
      if (by != null && by != transaction && by.active) {
        return true;
      }
      boolean taken = super.takeDedupKey(dedupKey, transaction);
      if (taken) {
        inserted.put(dedupKey, transaction);
      }
      return taken;
    }

    /** The way to a database takes time, so transactions meet. */
    @Override
    public Appended append(MemoryTransaction transaction, List<OutboxMessage> messages) {
      Appended appended = super.append(transaction, messages);
      LockSupport.parkNanos(1_000_000);
      return appended;
    }
  }

  /** Has a column that is too short, and a database that cuts without a word. */
  @Rule("A5")
  static final class CutsHeaders extends KeepsOtherwise {
    @Override
    OutboxMessage changed(OutboxMessage message) {
      return withHeaders(message, headers -> headers.stream().limit(50).toList());
    }
  }

  /** Has a database that cuts without a word, and no constraint. */
  @Rule("A5")
  static final class TakesRawRowsOfAnySize extends Broken {
    @Override
    Row rawRow(RawRow row) {
      try {
        return super.rawRow(row);
      } catch (InvalidMessageException e) {
        return super.rawRow(RawRow.of("what is left of it"));
      }
    }
  }

  /** Computes the key in Java, so that plain SQL has another. */
  @Rule("A6")
  static final class GivesRawRowsOtherKeys extends Broken {
    @Override
    Row rawRow(RawRow row) {
      return newRow(row.id().toString(), row.message());
    }
  }

  /** Has a default that is the time of the server's zone. */
  @Rule("A6")
  static final class CreatesRawRowsInItsZone extends Broken {
    @Override
    Row rawRow(RawRow row) {
      Instant there = now().plus(Duration.ofHours(2));
      return new Row(++lastSequence, row.message().key(), there, row.message());
    }
  }

  /** Puts rows that are not due yet aside with those that wait for a failed one. */
  @Rule("A6")
  static final class LosesRawRowsThatAreNotDue extends Broken {
    private final List<Row> raw = new CopyOnWriteArrayList<>();

    @Override
    Row rawRow(RawRow row) {
      Row inserted = super.rawRow(row);
      raw.add(inserted);
      return inserted;
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
          || (key.holder instanceof MemoryClaim holder
              && holder.rows.containsKey(key)
              && key.live().size() > holder.rows.get(key).size());
    }
  }

  /** Looks which key is the next that is free, and leases it then. */
  @Rule("C1")
  static final class LooksThenLeases extends Broken {
    private final ThreadLocal<@Nullable Key> next = new ThreadLocal<>();

    @Override
    public Claim claim(Claim.Request request) {
      synchronized (this) {
        Instant now = now();
        keys.values().stream()
            .filter(key -> super.isFree(key, now) && !due(key, now).isEmpty())
            .findFirst()
            .ifPresent(next::set);
      }
      LockSupport.parkNanos(200_000); // the way to a database takes time, so claims meet
      Claim claim = super.claim(request);
      next.remove();
      return claim;
    }

    @Override
    boolean isFree(Key key, Instant now) {
      Key one = next.get();
      return one == null ? super.isFree(key, now) : key == one;
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

  /** Reads by pages of eight. */
  @Rule("C2")
  static final class FillsPages extends Broken {
    @Override
    MemoryClaim claim(MemoryClaim claim, Claim.Request r) {
      int most = r.maxMessages() == 7 ? 8 : r.maxMessages();
      return super.claim(claim, new Claim.Request(r.worker(), most, r.maxBytes(), r.lease()));
    }
  }

  /** Counts messages, and not their bytes. */
  @Rule("C2")
  static final class CountsNoBytes extends Broken {
    @Override
    MemoryClaim claim(MemoryClaim claim, Claim.Request r) {
      return super.claim(
          claim, new Claim.Request(r.worker(), r.maxMessages(), Long.MAX_VALUE, r.lease()));
    }
  }

  /** Writes the sequences of a claim into its SQL, where none is an error. */
  @Rule("C3")
  static final class WritesAnEmptyList extends Broken {
    @Override
    synchronized Set<Long> renew(MemoryClaim claim, Duration lease) {
      if (claim.rows.isEmpty()) {
        throw new PermanentOutboxException("syntax error at or near \")\"");
      }
      return super.renew(claim, lease);
    }
  }

  /** Has a database that locks the table for a transaction with many rows. */
  @Rule("C3")
  static final class WaitsForLargeTransactions extends KnowsWhatIsOpen {
    @Override
    public synchronized Claim claim(Claim.Request request) {
      while (open().anyMatch(rows -> rows.size() >= 100)) {
        try {
          wait();
        } catch (InterruptedException e) {
          throw new PermanentOutboxException("interrupted", e);
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

  /** From a textbook on queues: locks what it reads until it is settled. */
  @Rule({"C4", "C8", "C9", "S1", "S4", "S6", "T1"})
  static final class LocksUntilSettled extends Broken {
    @Override
    boolean isFree(Key key, Instant now) {
      return key.holder == null;
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
        throw new PermanentOutboxException("unexpected end of headers");
      }
      return due;
    }
  }

  /** Takes the cap for a wish. */
  @Rule("F1")
  static final class CountsPastTheCap extends Broken {
    @Override
    public synchronized Statistics statistics(int cap) {
      Statistics all = super.statistics(Integer.MAX_VALUE);
      return with(all, cap, all.blockedKeys(), all.oldestFree());
    }
  }

  private static StatisticsStore.Statistics with(
      StatisticsStore.Statistics s, int cap, long blockedKeys, @Nullable Duration oldestFree) {
    return new StatisticsStore.Statistics(
        cap,
        s.pending(),
        s.scheduled(),
        s.blocked(),
        s.dead(),
        blockedKeys,
        s.haltedKeys(),
        oldestFree,
        s.oldestBlocked(),
        s.relays());
  }

  /** Takes a key for blocked until that which it waited for is delivered. */
  @Rule("F1")
  static final class CountsKeysThatGoOn extends Broken {
    @Override
    public synchronized Statistics statistics(int cap) {
      Statistics all = super.statistics(cap);
      long died =
          keys.values().stream()
              .filter(key -> key.rows.values().stream().anyMatch(row -> row.dead && row.failed))
              .count();
      return with(all, cap, all.blockedKeys() + died, all.oldestFree());
    }
  }

  /** Has one age for what is free to go and what is blocked. */
  @Rule("F1")
  static final class HasOneAge extends Broken {
    @Override
    public synchronized Statistics statistics(int cap) {
      Statistics all = super.statistics(cap);
      return with(all, cap, all.blockedKeys(), all.oldest());
    }
  }

  /** A store that lists in another way. */
  abstract static class ListsOtherwise extends Broken {
    /** What becomes of each message that is listed; null: nothing. */
    abstract @Nullable Listed otherwise(Listed message);

    @Override
    public synchronized Page<Listed> messages(Query query) {
      Page<Listed> page = super.messages(query);
      return new Page<>(
          page.found().stream().map(this::otherwise).filter(Objects::nonNull).toList(),
          page.next());
    }

    static Listed with(Listed m, Status status, @Nullable String error) {
      return new Listed(
          m.sequence(),
          m.id(),
          status,
          m.key(),
          m.aggregateType(),
          m.eventType(),
          m.dedupKey(),
          m.attempts(),
          m.appendedAt(),
          m.dueAt(),
          m.expiresAt(),
          error,
          m.failedAt(),
          m.haltsKey());
    }
  }

  /** Has one switch for all types. */
  @Rule("F3")
  static final class ResumesEverything extends Broken {
    @Override
    public synchronized boolean resume(@Nullable String aggregateType, Who by) {
      boolean was = super.resume(aggregateType, by);
      pauses.clear();
      return was;
    }
  }

  /** Compares types as people do. */
  @Rule("F3")
  static final class PausesTypesInAnyCase extends Broken {
    @Override
    public synchronized void pause(@Nullable String aggregateType, Who by) {
      super.pause(aggregateType == null ? null : aggregateType.toLowerCase(Locale.ROOT), by);
    }
  }

  /** Keeps the first reason. */
  @Rule("F3")
  static final class KeepsTheFirstPause extends Broken {
    @Override
    public synchronized void pause(@Nullable String aggregateType, Who by) {
      if (!pauses.containsKey(PauseStore.name(aggregateType))) {
        super.pause(aggregateType, by);
      }
    }
  }

  /** Looks whether it is paused, and inserts that when it is not. */
  @Rule("F3")
  static final class LooksThenPauses extends Broken {
    @Override
    public void pause(@Nullable String aggregateType, Who by) {
      String name = PauseStore.name(aggregateType);
      Pause before = pauses.get(name);
      LockSupport.parkNanos(200_000); // as LooksThenLeases
      synchronized (this) {
        if (pauses.get(name) != before) {
          throw new PermanentOutboxException("duplicate key value violates unique constraint");
        }
        super.pause(aggregateType, by);
      }
    }
  }

  /** Takes the client's clock for the store's. */
  @Rule("F3")
  static final class PausesByTheWrongClock extends Broken {
    @Override
    public synchronized List<Pause> pauses() {
      return super.pauses().stream()
          .map(
              one ->
                  new Pause(
                      one.aggregateType(),
                      one.since().plus(Duration.ofHours(1)),
                      one.who(),
                      one.reason()))
          .toList();
    }
  }

  /** Keeps messages back by itself, and those that are appended with them. */
  @Rule("F3")
  static final class ClaimsNothingOfPausedTypes extends Broken {
    @Override
    public synchronized Claim claim(Claim.Request request) {
      return pauses.isEmpty() ? super.claim(request) : newClaim(null);
    }
  }

  /** Says of what waits behind its key that it is free to go. */
  @Rule("F2")
  static final class ListsBlockedAsPending extends ListsOtherwise {
    @Override
    Listed otherwise(Listed message) {
      return message.status() == Status.BLOCKED
          ? with(message, Status.PENDING, message.error())
          : message;
    }
  }

  /** Lists only what it can decode, by joining with what it has decoded. */
  @Rule("F2")
  static final class ListsWhatItDecodes extends ListsOtherwise {
    @Override
    @Nullable Listed otherwise(Listed message) {
      return message.eventType() == null ? null : message;
    }
  }

  /** Keeps errors where the list does not look. */
  @Rule("F2")
  static final class ListsNoErrors extends ListsOtherwise {
    @Override
    Listed otherwise(Listed message) {
      return with(message, message.status(), null);
    }
  }

  /** Takes a page for a number of messages: those that leave shift all the others. */
  @Rule("F2")
  static final class PagesByOffset extends Broken {
    @Override
    public synchronized Page<Listed> messages(Query query) {
      long from = query.afterSequence();
      List<Listed> all = super.messages(Query.first(Integer.MAX_VALUE)).found();
      List<Listed> page = all.stream().skip(from).limit(query.limit()).toList();
      long to = from + page.size();
      return query.equals(Query.first(query.limit()).after(query.after()))
          ? new Page<>(page, to < all.size() ? Long.toString(to) : null)
          : super.messages(query);
    }
  }

  /** Begins a page with the last message of the one before. */
  @Rule("F2")
  static final class RepeatsTheLast extends Broken {
    @Override
    public synchronized Page<Listed> messages(Query query) {
      return query.limit() > 1 && query.after() != null
          ? super.messages(query.after(Long.toString(query.afterSequence() - 1)))
          : super.messages(query);
    }
  }

  /** A store that compares in another way what a query asks for. */
  abstract static class FiltersOtherwise extends Broken {
    /** Which messages a query asks for; null: as usual. */
    abstract @Nullable Predicate<Listed> filter(Query query);

    @Override
    public synchronized Page<Listed> messages(Query query) {
      Predicate<Listed> filter = filter(query);
      return filter == null
          ? super.messages(query)
          : new Page<>(
              super.messages(Query.first(Integer.MAX_VALUE)).found().stream()
                  .filter(filter)
                  .toList(),
              null);
    }
  }

  /** Asks whether an error is like a text. */
  @Rule("F2")
  static final class TakesErrorsForPatterns extends FiltersOtherwise {
    @Override
    @Nullable Predicate<Listed> filter(Query query) {
      if (query.error() == null) {
        return null;
      }
      String like = ".*" + query.error().replace("%", ".*").replace("_", ".") + ".*";
      return m -> m.error() != null && m.error().matches(like);
    }
  }

  /** Compares keys as a search for texts does. */
  @Rule("F2")
  static final class TakesKeysForPrefixes extends FiltersOtherwise {
    @Override
    @Nullable Predicate<Listed> filter(Query query) {
      String key = query.key();
      return key == null || query.status() != null ? null : m -> m.key().startsWith(key);
    }
  }

  /** Compares dedup keys as databases do that pad texts with blanks. */
  @Rule("F2")
  static final class TakesDedupKeysWithBlanks extends FiltersOtherwise {
    @Override
    @Nullable Predicate<Listed> filter(Query query) {
      String dedup = query.dedupKey();
      return dedup == null ? null : m -> m.dedupKey() != null && m.dedupKey().strip().equals(dedup);
    }
  }

  /** Counts an attempt for each look. */
  @Rule("F2")
  static final class TouchesWhatItLists extends Broken {
    @Override
    public synchronized Page<Listed> messages(Query query) {
      Page<Listed> page = super.messages(query);
      keys.values().stream()
          .filter(key -> key.holder != null)
          .flatMap(key -> key.rows.values().stream())
          .forEach(row -> row.attempts++);
      return page;
    }
  }

  /** Waits until nobody has a claim. */
  @Rule("F2")
  static final class ListsOnlyWhatIsFree extends ListsOtherwise {
    @Override
    @Nullable Listed otherwise(Listed message) {
      return keys.get(message.key()).holder == null ? message : null;
    }
  }

  /** Shows of each message that its key waits for, also of that one. */
  @Rule("F2")
  static final class WaitsForItself extends Broken {
    @Override
    public synchronized Optional<Inspected> message(long sequence) {
      return super.message(sequence)
          .map(
              shown ->
                  new Inspected(
                      shown.listed(),
                      shown.message(),
                      waitingKeys(false, null, Integer.MAX_VALUE).found().stream()
                          .filter(key -> key.key().equals(shown.listed().key()))
                          .map(WaitingKey::behind)
                          .findFirst()
                          .orElse(null)));
    }
  }

  /** Takes whatever died for what halts its key. */
  @Rule("F2")
  static final class NamesKeysThatGoOn extends Broken {
    @Override
    public synchronized Page<WaitingKey> waitingKeys(
        boolean halted, @Nullable String after, int limit) {
      Page<WaitingKey> page = super.waitingKeys(halted, after, limit);
      return halted && after == null
          ? new Page<>(
              deadLetters(0, limit).stream()
                  .map(DeadLetter::message)
                  .map(m -> new WaitingKey(m.key(), m.sequence(), true, null, 0, 1, "rejected"))
                  .toList(),
              null)
          : page;
    }
  }

  /** Counts among those that wait behind a message that one, too. */
  @Rule("F2")
  static final class CountsTheHead extends Broken {
    @Override
    public synchronized Page<WaitingKey> waitingKeys(
        boolean halted, @Nullable String after, int limit) {
      Page<WaitingKey> page = super.waitingKeys(halted, after, limit);
      return new Page<>(
          page.found().stream()
              .map(
                  k ->
                      new WaitingKey(
                          k.key(),
                          k.behind(),
                          k.halted(),
                          k.retryAt(),
                          k.waiting() + 1,
                          k.attempts(),
                          k.error()))
              .toList(),
          page.next());
    }
  }

  /** Forgets of keys how far it has read. */
  @Rule("F2")
  static final class EndsAfterAPage extends Broken {
    @Override
    public synchronized Page<WaitingKey> waitingKeys(
        boolean halted, @Nullable String after, int limit) {
      return new Page<>(super.waitingKeys(halted, after, limit).found(), null);
    }
  }

  /** Takes what is no page for the first one. */
  @Rule("F2")
  static final class TakesAnyPage extends Broken {
    @Override
    public synchronized Page<Listed> messages(Query query) {
      try {
        return super.messages(query);
      } catch (IllegalArgumentException e) {
        return super.messages(query.after(null));
      }
    }
  }

  /** Gives nothing back when the relay stops. */
  @Rule("C8")
  static final class KeepsAfterTheStop extends Broken {
    @Override
    public Keeper keeper(Duration unclaimed) {
      return new MemoryKeeper(this, unclaimed) {
        @Override
        public void close() {}
      };
    }
  }

  /** Gives back what it keeps, and keeps what is settled after that. */
  @Rule("C8")
  static final class GoesOnKeeping extends Broken {
    @Override
    public Keeper keeper(Duration unclaimed) {
      return new MemoryKeeper(this, unclaimed) {
        @Override
        boolean isOver() {
          return false;
        }
      };
    }
  }

  /** Keeps keys for workers that do not come. */
  @Rule("C8")
  static final class KeepsForWorkersThatHang extends Broken {
    @Override
    public Keeper keeper(Duration unclaimed) {
      return new MemoryKeeper(this, unclaimed) {
        @Override
        public void giveBackUnused() {}
      };
    }
  }

  /** Keeps keys by leases that nobody has to prolong. */
  @Rule("C8")
  static final class KeepsWithoutEnd extends Broken {
    @Override
    public Keeper keeper(Duration unclaimed) {
      return new MemoryKeeper(this, unclaimed) {
        @Override
        void lease(Key key, Instant now, Duration length) {
          super.lease(key, now, length.plusHours(1));
        }
      };
    }
  }

  /** Believes what it remembers, and does not ask whether its lease still stands. */
  @Rule("C8")
  static final class HandsOutWhatItLost extends Broken {
    private final List<MemoryKeeper> keepers = new CopyOnWriteArrayList<>();

    @Override
    public Keeper keeper(Duration unclaimed) {
      MemoryKeeper keeper =
          new MemoryKeeper(this, unclaimed) {
            @Override
            boolean isKept(Key key, Instant now) {
              return true;
            }
          };
      keepers.add(keeper);
      return keeper;
    }

    @Override
    boolean mayHave(MemoryClaim claim, Key key, Instant now) {
      return super.mayHave(claim, key, now)
          || keepers.stream().anyMatch(k -> k.kept == claim.kept && k.idleSince.containsKey(key));
    }
  }

  /** Hands over by a queue, which is what the next claim has. */
  abstract static class HandsOver extends Broken {

    /**
     * Whether a message may be handed over.
     *
     * @param key null where nothing is known of it
     */
    abstract boolean may(Queueing keeper, @Nullable Key key, Row row);

    @Override
    public Keeper keeper(Duration unclaimed) {
      return new Queueing(this, unclaimed);
    }

    /** Nothing else of the key is there, apart from dead letters that halt nothing. */
    static boolean isAlone(Key key, Row row) {
      return !key.isHalted() && key.live().stream().allMatch(other -> other == row);
    }
  }

  static final class Queueing extends MemoryKeeper {
    private final HandsOver broken;
    private final List<Row> queue = new ArrayList<>();

    Queueing(HandsOver broken, Duration unclaimed) {
      super(broken, unclaimed);
      this.broken = broken;
    }

    boolean keeps(Key key) {
      return isKept(key, broken.now()) && idleSince.containsKey(key);
    }

    @Override
    boolean handOver(List<Row> rows) {
      synchronized (broken) {
        return rows.stream().allMatch(row -> broken.may(this, broken.keys.get(row.key), row))
            && queue.addAll(rows);
      }
    }

    @Override
    public Claim claim(Claim.Request request) {
      synchronized (broken) {
        List<Row> rows = List.copyOf(queue);
        queue.clear();
        if (rows.isEmpty() || rows.size() > request.maxMessages()) {
          return super.claim(request);
        }
        MemoryClaim claim = broken.newClaim(kept);
        for (Row row : rows) {
          Key key = broken.keys.computeIfAbsent(row.key, Key::new);
          claim.add(key, row, row.toStored());
          key.lease(claim, broken.now(), request.lease());
          idleSince.remove(key);
        }
        return claim;
      }
    }
  }

  /** Does not ask for other messages of the key. */
  @Rule("C9")
  static final class HandsOverBeforeOlder extends HandsOver {
    @Override
    boolean may(Queueing keeper, @Nullable Key key, Row row) {
      return key != null
          && keeper.keeps(key)
          && key.rows.containsKey(row.sequence)
          && !key.isWaiting()
          && !key.isHalted();
    }
  }

  /** Asks for other messages of the key that are due. */
  @Rule("C9")
  static final class HandsOverBeforeWhatWaits extends HandsOver {
    @Override
    boolean may(Queueing keeper, @Nullable Key key, Row row) {
      return key != null
          && keeper.keeps(key)
          && key.rows.containsKey(row.sequence)
          && key.live().stream().allMatch(other -> other == row || other.failed);
    }
  }

  /** Does not ask whether a claim had it in the meantime. */
  @Rule("C9")
  static class HandsOverAgain extends HandsOver {
    @Override
    boolean may(Queueing keeper, @Nullable Key key, Row row) {
      return key != null && keeper.keeps(key) && isAlone(key, row);
    }
  }

  /** Does not ask who has the key now. */
  @Rule({"C9", "C8"})
  static final class HandsOverWhatAnotherHas extends HandsOver {
    @Override
    boolean may(Queueing keeper, @Nullable Key key, Row row) {
      return key != null && key.rows.containsKey(row.sequence) && isAlone(key, row);
    }
  }

  /** Does not wait for the commit. */
  @Rule("C9")
  static final class HandsOverBeforeTheCommit extends HandsOverAgain {
    @Override
    public synchronized Uncommitted append(
        Keeper keeper, MemoryTransaction transaction, List<OutboxMessage> messages) {
      Uncommitted uncommitted = super.append(keeper, transaction, messages);
      Committed ignored = uncommitted.committed();
      return uncommitted;
    }
  }

  /** Leaves to whoever commits what was appended to be handed over. */
  @Rule("C9")
  static final class ClaimsOnlyWhatIsSaid extends Broken {
    private final Set<UUID> unsaid = ConcurrentHashMap.newKeySet();

    @Override
    public synchronized Uncommitted append(
        Keeper keeper, MemoryTransaction transaction, List<OutboxMessage> messages) {
      Uncommitted uncommitted = super.append(keeper, transaction, messages);
      List<UUID> ids = messages.stream().map(OutboxMessage::id).toList();
      unsaid.addAll(ids);
      return Uncommitted.of(
          uncommitted.appended(),
          () -> {
            unsaid.removeAll(ids);
            return Committed.UNKNOWN;
          });
    }

    @Override
    List<Row> due(Key key, Instant now) {
      return super.due(key, now).stream()
          .filter(row -> row.message == null || !unsaid.contains(row.message.id()))
          .toList();
    }
  }

  /** Looks at others when there is nothing in what it keeps. */
  @Rule("C8")
  static final class LooksAtOthersLast extends Broken {
    @Override
    boolean mayHave(MemoryClaim claim, Key key, Instant now) {
      boolean busy =
          claim.kept != null
              && keys.values().stream()
                  .anyMatch(k -> k.holder == claim.kept && !due(k, now).isEmpty());
      return super.mayHave(claim, key, now) && (!busy || key.holder == claim.kept);
    }
  }

  /** While it keeps anything it looks nowhere else. */
  @Rule("C8")
  static final class LooksOnlyAtWhatItKeeps extends Broken {
    @Override
    boolean mayHave(MemoryClaim claim, Key key, Instant now) {
      boolean keeps =
          claim.kept != null && keys.values().stream().anyMatch(k -> k.holder == claim.kept);
      return keeps ? key.holder == claim.kept : super.mayHave(claim, key, now);
    }
  }

  /** Looks for new messages in what it keeps, and not for those whose time has come. */
  @Rule("C8")
  static final class LooksOnlyForNewOnes extends Broken {
    @Override
    boolean mayHave(MemoryClaim claim, Key key, Instant now) {
      boolean waited =
          key.live().stream().anyMatch(row -> row.failed || row.dueAt.isAfter(row.createdAt));
      return super.mayHave(claim, key, now)
          && !(waited && claim.kept != null && key.holder == claim.kept);
    }
  }

  /**
   * Has nothing to settle where nothing is decided, and leaves the key to the claim that had it.
   */
  @Rule({"C8", "C9"})
  static final class HoldsWhatNobodyDecided extends Broken {
    @Override
    synchronized Set<Long> settle(MemoryClaim claim, Map<Long, Decision> decisions) {
      return claim.kept != null && decisions.isEmpty() ? Set.of() : super.settle(claim, decisions);
    }
  }

  /** A store that has not done with what it has settled. */
  abstract static class SettlesMore extends Broken {
    /** What it does about each message of the claim then. */
    abstract void more(
        MemoryClaim claim, Key key, Row row, @Nullable Decision decision, boolean lost);

    @Override
    synchronized Set<Long> settle(MemoryClaim claim, Map<Long, Decision> decisions) {
      Set<Long> lost = super.settle(claim, decisions);
      claim.rows.forEach(
          (key, rows) -> {
            for (Row row : rows) {
              more(claim, key, row, decisions.get(row.sequence), lost.contains(row.sequence));
            }
          });
      return lost;
    }
  }

  /** Finds out that it lost the key when it has changed it already. */
  @Rule("S1")
  static class SettlesWhatItLost extends SettlesMore {
    @Override
    void more(MemoryClaim claim, Key key, Row row, @Nullable Decision decision, boolean lost) {
      if (lost && key.rows.containsKey(row.sequence) && !(decision instanceof Decision.Dead)) {
        apply(key, row, decision, false);
      }
    }
  }

  /**
   * Settles by the number of the message alone, so that nothing is lost to another: what one has
   * settled as gone, another may have, and hand on, under load.
   */
  @Rule({"S1", "C1", "S2"})
  static final class SettlesForAnyone extends SettlesWhatItLost {
    @Override
    synchronized Set<Long> settle(MemoryClaim claim, Map<Long, Decision> decisions) {
      Set<Long> ignored = super.settle(claim, decisions);
      return Set.of();
    }
  }

  /** Knows a message that failed by when it was due, as told by a clock that has moved on since. */
  @Rule("S1")
  static final class ForgetsLateFailures extends Broken {
    @Override
    void apply(Key key, Row row, @Nullable Decision decision, boolean countedBefore) {
      boolean changed =
          row.dueAt != Row.ALWAYS && row.dueAt.isBefore(now().minus(Duration.ofHours(1)));
      boolean failed = !(decision instanceof Decision.Delivered);
      super.apply(key, row, changed && failed ? null : decision, countedBefore);
    }
  }

  /** Remembers from which claims a relay has gone on. */
  abstract static class GoesOn extends SettlesMore {
    final Set<Claim> goneOn = ConcurrentHashMap.newKeySet();

    @Override
    public Settled settleAndClaim(Claim done, Map<Long, Decision> decisions, Claim.Request next) {
      Settled settled = super.settleAndClaim(done, decisions, next);
      goneOn.add(done);
      return settled;
    }
  }

  /** Knows by its attempts whether a message is as it was claimed; and a requeue forgets them. */
  @Rule("S1")
  static final class UndoesRequeues extends GoesOn {
    @Override
    void more(MemoryClaim claim, Key key, Row row, @Nullable Decision decision, boolean lost) {
      boolean requeued = key.rows.containsKey(row.sequence) && !row.dead && row.attempts == 0;
      if (goneOn.contains(claim) && requeued) {
        apply(key, row, decision, false);
      }
    }
  }

  /** Keeps a key for what comes next, and what it settled may be settled again. */
  @Rule("S1")
  static final class CountsTwiceAfterALostReply extends GoesOn {
    @Override
    void more(MemoryClaim claim, Key key, Row row, @Nullable Decision decision, boolean lost) {
      if (goneOn.contains(claim) && decision instanceof Decision.Retry) {
        row.attempts++;
      }
    }
  }

  /** Finds what it settles by key and sequence. */
  @Rule("S1")
  static final class KnowsMessagesBySequence extends SettlesMore {
    @Override
    void more(MemoryClaim claim, Key key, Row row, @Nullable Decision decision, boolean lost) {
      Key now = keys.get(key.name);
      Row same = now == null ? null : now.rows.get(row.sequence);
      if (same != null && same != row) {
        apply(now, same, decision, false);
      }
    }
  }

  /** Looks at what it is given only where it settles and does nothing else. */
  @Rule("S1")
  static final class GoesOnWithUnknownSequences extends Broken {
    @Override
    public Settled settleAndClaim(Claim done, Map<Long, Decision> decisions, Claim.Request next) {
      Map<Long, Decision> known = new HashMap<>(decisions);
      known.keySet().retainAll(done.messages().stream().map(StoredMessage::sequence).toList());
      return super.settleAndClaim(done, known, next);
    }
  }

  /** Does not keep the error. */
  @Rule({"S2", "F2"})
  static final class ForgetsTheError extends Broken {
    @Override
    void apply(Key key, Row row, Decision decision, boolean countedBefore) {
      super.apply(key, row, decision, countedBefore);
      row.error = null;
    }
  }

  /** Deletes by the key what it has claimed of it, where that is little. */
  @Rule({"S2", "S4"})
  static final class DeletesWhatIsUndecided extends Broken {
    @Override
    synchronized Set<Long> settle(MemoryClaim claim, Map<Long, Decision> decisions) {
      boolean few = claim.messages.size() == 2 && keys.size() == 1 && decisions.size() == 1;
      return super.settle(
          claim,
          few && decisions.containsValue(Decision.delivered())
              ? Decisions.all(claim, Decision.delivered())
              : decisions);
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

  /** Counts an attempt that should not count. */
  @Rule({"S2", "S1", "S6"})
  static final class CountsUnavailable extends Broken {
    @Override
    void apply(Key key, Row row, Decision decision, boolean countedBefore) {
      super.apply(
          key,
          row,
          decision instanceof Decision.Retry r ? Decision.retry(r.delay(), r.error()) : decision,
          countedBefore);
    }
  }

  /** Counts the tries. */
  @Rule("S2")
  static final class MakesDeadLetters extends Broken {
    @Override
    void apply(Key key, Row row, Decision decision, boolean countedBefore) {
      boolean tooOften = decision instanceof Decision.Retry retry && retry.counts();
      super.apply(
          key,
          row,
          tooOften && row.attempts >= 20 ? Decision.dead("too many attempts") : decision,
          countedBefore);
    }
  }

  /** Commits each decision by itself. */
  @Rule("S1")
  static final class SettlesRowByRow extends Broken {
    @Override
    void apply(Key key, Row row, Decision decision, boolean countedBefore) {
      breakNowAndThen();
      super.apply(key, row, decision, countedBefore);
    }
  }

  /** Takes a crashed relay's word for what it had not settled. */
  @Rule("S4")
  static final class LosesWhatACrashedRelayHeld extends Broken {
    @Override
    List<Row> due(Key key, Instant now) {
      if (key.holder != null
          && ((MemoryClaim) key.holder).rows.size() > 1
          && key.live().size() > 1) {
        List<Row> live = key.live();
        key.rows.remove(live.get(live.size() - 1).sequence);
      }
      return super.due(key, now);
    }
  }

  /** Does not remember that relays crashed with a key. */
  @Rule("S6")
  static final class ForgetsCrashes extends Broken {
    @Override
    MemoryClaim claim(MemoryClaim claim, Claim.Request request) {
      keys.values().forEach(key -> key.expired = 0);
      return super.claim(claim, request);
    }
  }

  /** Counts an attempt at the claim, and once more at the settle. */
  @Rule("S6")
  static final class CountsSuspectsTwice extends Broken {
    @Override
    void apply(Key key, Row row, @Nullable Decision decision, boolean countedBefore) {
      super.apply(key, row, decision, false);
    }
  }

  /** Archives what it is told of, and asks only then whether it holds it. */
  @Rule("S7")
  static final class ArchivesWhatItLost extends SettlesMore {
    @Override
    void more(MemoryClaim claim, Key key, Row row, @Nullable Decision decision, boolean lost) {
      boolean isAnother = keys.getOrDefault(key.name, key) != key;
      if (hasArchive() && (lost || isAnother) && decision instanceof Decision.Delivered) {
        archive(row, Outcome.DELIVERED, null);
      }
    }
  }

  /** Waits in housekeeping for a lock that nobody gives back, where there is much to do. */
  @Rule("S7")
  static final class HousekeepsForEver extends Broken {
    private final CountDownLatch never = new CountDownLatch(1);

    /** There was, even if it is less by the time at which housekeeping begins. */
    private volatile boolean much;

    @Override
    void apply(Key key, Row row, @Nullable Decision decision, boolean countedBefore) {
      super.apply(key, row, decision, countedBefore);
      much |= deadLetters(0, 10).size() == 10;
    }

    @Override
    public synchronized void clear() {
      super.clear();
      much = false;
    }

    @Override
    public void housekeep() {
      if (much) {
        try {
          never.await();
        } catch (InterruptedException e) {
          throw new PermanentOutboxException("interrupted", e);
        }
      }
      super.housekeep();
    }
  }

  /** Archives when the settle is committed. */
  @Rule("S7")
  static final class ArchivesAfterTheSettle extends Broken {
    @Override
    void archive(Row row, Outcome outcome, @Nullable String answer) {
      breakNowAndThen();
      super.archive(row, outcome, answer);
    }
  }

  /** Knows of what was delivered that nothing was wrong with it. */
  @Rule("S7")
  static final class ArchivesNoAttempts extends Broken {
    @Override
    void archive(Row row, Outcome outcome, @Nullable String answer) {
      row.attempts = outcome == Outcome.DELIVERED ? 0 : row.attempts;
      super.archive(row, outcome, answer);
    }
  }

  /** Knows of one way to leave. */
  @Rule("S7")
  static final class ForgetsWhatIsDiscarded extends Broken {
    @Override
    void archive(Row row, Outcome outcome, @Nullable String answer) {
      if (outcome == Outcome.DELIVERED) {
        super.archive(row, outcome, answer);
      }
    }
  }

  /** Writes down what is done about messages, and nothing else. */
  @Rule("F3")
  static final class ForgetsWhoPaused extends Broken {
    @Override
    public synchronized List<Entry> audit(Instant from, int limit) {
      return super.audit(from, limit).stream().filter(entry -> entry.sequence() > 0).toList();
    }
  }

  /** Looks at the time alone, and takes a decision that was a person's. */
  @Rule("S7")
  static final class ExpiresWhatHalts extends Broken {
    @Override
    boolean isExpired(Row dead, Instant before) {
      return dead.failedAt.isBefore(before);
    }
  }

  /** Finds the broker's answer by the key of the message. */
  @Rule("S7")
  static final class HasOneAnswerOfAKey extends Broken {
    private final Map<String, @Nullable String> answers = new HashMap<>();

    @Override
    void archive(Row row, Outcome outcome, @Nullable String answer) {
      super.archive(row, outcome, answers.computeIfAbsent(row.key, key -> answer));
    }
  }

  /** Keeps payloads in any case. */
  @Rule("S7")
  static final class ArchivesPayloadsOfMetadata extends Broken {
    @Override
    void archive(Row row, Outcome outcome, @Nullable String answer) {
      super.archive(row, outcome, answer);
      Archived last = archived.remove(archived.size() - 1);
      archived.add(with(last, row.toStored(), last.whole()));
    }
  }

  static Archived with(Archived one, StoredMessage message, boolean whole) {
    return new Archived(message, whole, one.at(), one.outcome(), one.answer(), one.error());
  }

  /** Replays what there is, and of metadata that is a message without a payload. */
  @Rule("S7")
  static final class ReplaysMetadata extends Broken {
    @Override
    public synchronized Appended replay(List<Archived> messages, Who by) {
      return super.replay(
          messages.stream().map(one -> with(one, one.message(), true)).toList(), by);
    }
  }

  /** Replays in the order in which people look at them: the newest first. */
  @Rule("S7")
  static final class ReplaysTheNewestFirst extends Broken {
    @Override
    public synchronized Appended replay(List<Archived> messages, Who by) {
      List<Archived> turned = new ArrayList<>(messages);
      Collections.reverse(turned);
      return super.replay(turned, by);
    }
  }

  /** Has a narrow column for the broker's answer. */
  @Rule("S7")
  static final class FailsOnLongAnswers extends Broken {
    @Override
    void archive(Row row, Outcome outcome, @Nullable String answer) {
      if (answer != null && answer.length() > 255) {
        throw new PermanentOutboxException("data too long for column answer");
      }
      super.archive(row, outcome, answer);
    }
  }

  /** Asks for the broker's answer, whether or not it is kept. */
  @Rule("S7")
  static final class AsksForNothing extends Broken {
    @Override
    void leave(Key key, Row row, Outcome outcome, Decision.@Nullable Delivered delivered) {
      if (delivered != null) {
        String ignored = delivered.answer();
      }
      super.leave(key, row, outcome, delivered);
    }
  }

  /** Does not know of the newest part of a search, and replays what nobody asked for. */
  @Rule("S7")
  static final class FindsAllOutcomes extends Broken {
    @Override
    public synchronized List<Archived> archived(Search search, int limit) {
      return super.archived(search.outcome(null), limit);
    }
  }

  /**
   * Takes the time alone for a place, and goes on behind it. To the minute, because a busy machine
   * archives no two messages in the same microsecond.
   */
  @Rule("S7")
  static final class PagesByTime extends Broken {
    @Override
    public synchronized List<Archived> archived(Search search, int limit) {
      Position after = search.after();
      return super.archived(after == null ? search : search.after(behindMinute(after)), limit);
    }

    private static Position behindMinute(Position after) {
      return new Position(
          after.at().truncatedTo(ChronoUnit.MINUTES).plus(1, ChronoUnit.MINUTES), Long.MAX_VALUE);
    }
  }

  /** Appends each message of a replay in a transaction of its own. */
  @Rule("S7")
  static final class ReplaysOneByOne extends Broken {
    @Override
    public synchronized Appended replay(List<Archived> messages, Who by) {
      Appended last = super.replay(List.of(), by);
      for (Archived one : messages) {
        last = super.replay(List.of(one), by);
      }
      return last;
    }
  }

  /** Has room for 255 characters of an error. */
  @Rule("S5")
  static final class FailsOnLongErrors extends Broken {
    @Override
    void apply(Key key, Row row, Decision decision, boolean countedBefore) {
      if (decision instanceof Decision.Retry retry && retry.error().length() > 255) {
        throw new PermanentOutboxException("data too long for column last_error");
      }
      super.apply(key, row, decision, countedBefore);
    }
  }

  /** Keeps a delay in a column for milliseconds of 32 bits. */
  @Rule("S5")
  static final class FailsOnLongDelays extends Broken {
    @Override
    void apply(Key key, Row row, Decision decision, boolean countedBefore) {
      if (decision instanceof Decision.Retry retry
          && retry.delay().toMillis() > Integer.MAX_VALUE) {
        throw new PermanentOutboxException("integer out of range");
      }
      super.apply(key, row, decision, countedBefore);
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

  /** Reads in the order of the time of append. */
  @Rule("O1")
  static final class OrdersByTime extends Broken {
    @Override
    List<Row> due(Key key, Instant now) {
      List<Row> due = new ArrayList<>(super.due(key, now));
      due.sort(Comparator.comparing(row -> row.createdAt));
      return due;
    }
  }

  /** Reads in the order of a time that is the beginning of the transaction. */
  @Rule("O1")
  static final class OrdersByNow extends Broken {
    private final Map<MemoryTransaction, Integer> begun = new ConcurrentHashMap<>();
    private final Map<Row, Integer> order = new ConcurrentHashMap<>();

    @Override
    public MemoryTransaction begin() {
      MemoryTransaction transaction = super.begin();
      begun.put(transaction, begun.size());
      return transaction;
    }

    @Override
    synchronized void commit(MemoryTransaction transaction) {
      transaction.rows.forEach(row -> order.put(row, begun.get(transaction)));
      super.commit(transaction);
    }

    @Override
    List<Row> due(Key key, Instant now) {
      List<Row> due = new ArrayList<>(super.due(key, now));
      due.sort(Comparator.comparing(order::get));
      return due;
    }
  }

  /** Reads on behind what it has claimed of a key, and never sees what commits late before that. */
  @Rule({"O1", "O3"})
  static final class ReadsOnBehindWhatItHadLast extends Broken {
    private final Map<String, Long> last = new HashMap<>();

    @Override
    StoredMessage claimed(Row row, Instant now) {
      last.merge(row.key, row.sequence, Math::max);
      return super.claimed(row, now);
    }

    @Override
    synchronized void commit(MemoryTransaction transaction) {
      transaction.rows.removeIf(row -> row.sequence < last.getOrDefault(row.key, 0L));
      super.commit(transaction);
    }

    @Override
    public synchronized void clear() {
      super.clear();
      last.clear();
    }
  }

  /** Computes by the client's clock when a retry is due. */
  @Rule("T1")
  static final class AsksItsOwnClock extends Broken {
    @Override
    Instant dueAgain(Decision.Retry retry) {
      return super.dueAgain(retry).plus(clientIsAhead);
    }
  }

  /** Computes by the client's clock when a delayed message is due. */
  @Rule("T1")
  static final class DelaysByTheClientsClock extends Broken {
    @Override
    Row newRow(String key, OutboxMessage message) {
      Row row = super.newRow(key, message);
      if (row.dueAt != Row.ALWAYS) {
        row.dueAt = row.dueAt.plus(clientIsAhead);
      }
      return row;
    }
  }

  /** Compares the end of a lease with the client's clock. */
  @Rule("T1")
  static final class ComparesLeasesWithTheClientsClock extends Broken {
    @Override
    boolean isFree(Key key, Instant now) {
      return super.isFree(key, now.plus(clientIsAhead));
    }
  }

  /** Remembers dedup keys by the client's clock. */
  @Rule("T1")
  static final class RemembersByTheClientsClock extends Broken {
    @Override
    Instant now() {
      return super.now()
          .plus(clientIsAhead.compareTo(Duration.ofDays(1)) > 0 ? clientIsAhead : Duration.ZERO);
    }
  }

  /** Cannot tell half a minute from none. */
  @Rule("T1")
  static final class CountsInMinutes extends Broken {
    @Override
    Instant dueAgain(Decision.Retry retry) {
      return retry.delay().getSeconds() == 30 ? now() : super.dueAgain(retry);
    }
  }

  /** Writes milliseconds where the database takes microseconds. */
  @Rule("T1")
  static final class DelaysForAThousandth extends Broken {
    @Override
    Row newRow(String key, @Nullable OutboxMessage message) {
      Row row = super.newRow(key, message);
      if (message != null && message.deliverAfter() != null) {
        row.dueAt = row.createdAt.plus(message.deliverAfter().dividedBy(1_000));
      }
      return row;
    }
  }

  /** The same, of a lease that is renewed. */
  @Rule("T1")
  static final class RenewsForAThousandth extends Broken {
    @Override
    synchronized Set<Long> renew(MemoryClaim claim, Duration lease) {
      return super.renew(claim, lease.dividedBy(1_000));
    }
  }

  /** The same, of a time after which a message expires. */
  @Rule("C10")
  static final class ExpiresAfterAThousandth extends KeepsOtherwise {
    @Override
    OutboxMessage changed(OutboxMessage message) {
      Duration time = message.expireAfter();
      return time == null ? message : bare(message).expireAfter(time.dividedBy(1_000)).build();
    }
  }

  /** Renews the first of its rows. */
  @Rule("C4")
  static final class RenewsOneKey extends Broken {
    @Override
    synchronized Set<Long> renew(MemoryClaim claim, Duration lease) {
      Map<Key, Instant> ends = new HashMap<>();
      claim.rows.keySet().stream().skip(1).forEach(key -> ends.put(key, key.leasedUntil));
      Set<Long> held = super.renew(claim, lease);
      ends.forEach((key, end) -> key.leasedUntil = end);
      return held;
    }
  }

  /** Gives the claim that comes with a settle what is left of another's lease. */
  @Rule("S3")
  static final class LeasesTheNextForNothing extends Broken {
    @Override
    public Settled settleAndClaim(
        Claim claim, Map<Long, Decision> decisions, Claim.Request request) {
      return super.settleAndClaim(
          claim,
          decisions,
          new Claim.Request(
              request.worker(), request.maxMessages(), request.maxBytes(), Duration.ofMillis(1)));
    }
  }

  /** Asks whether it holds anything, not whether it holds this key. */
  @Rule("S1")
  static final class HoldsAllOrNothing extends Broken {
    @Override
    boolean holds(MemoryClaim claim, Key key) {
      return claim.rows.keySet().stream().anyMatch(each -> super.holds(claim, each));
    }
  }

  /** Takes what nobody settled for new. */
  abstract static class BeginsAnew extends Broken {
    abstract void anew(Row row);

    @Override
    MemoryClaim claim(MemoryClaim claim, Claim.Request request) {
      Instant now = now();
      keys.values().stream()
          .filter(key -> key.holder != null && key.holder != claim.kept && isFree(key, now))
          .forEach(key -> key.live().forEach(this::anew));
      return super.claim(claim, request);
    }
  }

  @Rule("O2")
  static final class BringsFollowersAfterACrash extends BeginsAnew {
    @Override
    void anew(Row row) {
      row.failed = false;
    }
  }

  @Rule({"S2", "S1", "S6"})
  static final class ForgetsAttemptsInACrash extends BeginsAnew {
    @Override
    void anew(Row row) {
      row.attempts = 0;
    }
  }

  /** Decides about a key where it should decide about a dead letter. */
  @Rule("O2")
  static final class EndsWaitsByAnyDecision extends Broken {
    private void free(Row row) {
      Key key = keys.get(row.key);
      if (key != null) {
        key.live().forEach(each -> each.failed = false);
        key.live().forEach(each -> each.dueAt = Row.ALWAYS);
      }
    }

    @Override
    void discard(Row row) {
      super.discard(row);
      free(row);
    }
  }

  /** Removes with old dedup keys those that are not old. */
  @Rule("A4")
  static final class ForgetsAllDedupKeys extends Broken {
    private int forgotten;

    @Override
    boolean takeDedupKey(String dedupKey, MemoryTransaction transaction) {
      return super.takeDedupKey(forgotten + dedupKey, transaction);
    }

    @Override
    public synchronized void housekeep() {
      super.housekeep();
      forgotten++;
    }
  }

  /** Removes all dead letters where none should be. */
  @Rule("S2")
  static final class ForgetsDeadLetters extends Broken {
    @Override
    public synchronized void housekeep() {
      super.housekeep();
      if (!hasArchive()) {
        keys.values().forEach(key -> key.rows.values().removeIf(row -> row.dead));
      }
    }
  }

  /** Begins a page of dead letters with the last one of the page before. */
  @Rule("S2")
  static final class RepeatsTheLastDeadLetter extends Broken {
    @Override
    public synchronized List<DeadLetter> deadLetters(long afterSequence, int limit) {
      return super.deadLetters(Math.max(0, afterSequence - 1), limit);
    }
  }

  /** Deletes by the sequence, dead or not. */
  @Rule({"S2", "S7"})
  static final class DiscardsWhatLives extends Broken {
    @Override
    public synchronized Set<Long> discard(Set<Long> sequences, @Nullable Who by) {
      for (Key key : keys.values()) {
        key.rows.forEach((sequence, row) -> row.dead |= sequences.contains(sequence));
      }
      return super.discard(sequences, by);
    }
  }

  /** Removes claims of workers that it takes for dead. */
  @Rule("S2")
  static final class FreesWhatIsClaimed extends Broken {
    @Override
    public synchronized void housekeep() {
      super.housekeep();
      keys.values().forEach(key -> key.holder = null);
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

  /** Puts a message that failed aside, and goes on with those behind it. */
  @Rule({"O2", "A3", "A6", "C7", "C8", "C9", "F1", "F2", "O1"})
  static final class GoesOnWithoutTheHead extends Broken {
    @Override
    List<Row> due(Key key, Instant now) {
      return key.isHalted()
          ? List.of()
          : key.live().stream().filter(row -> row.isDue(now)).toList();
    }
  }

  /** Moves aside what waits when a key is blocked, and forgets what is appended later. */
  @Rule("O3")
  static final class LetsLaterAppendsPassABlockedKey extends Broken {
    @Override
    List<Row> due(Key key, Instant now) {
      for (Row blocker : key.rows.values()) {
        if (blocker.dead && blocker.haltsKey) {
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
    void requeue(Row row) {
      free(row);
      super.requeue(row);
    }

    @Override
    void discard(Row row) {
      free(row);
      super.discard(row);
    }

    private void free(Row decided) {
      for (Key key : keys.values()) {
        if (key.rows.containsKey(decided.sequence)) {
          key.rows.values().forEach(row -> row.haltsKey = false);
        }
      }
    }
  }

  /** Looks whether a message was delayed, and not whether that is over. */
  @Rule("S8")
  static final class CancelsWhatIsDue extends Broken {
    @Override
    boolean mayBeCancelled(Row row, Instant now) {
      return !row.dead && !row.failed && row.dueAt != Row.ALWAYS;
    }
  }

  /** Has put aside what is of a key that is halted, and does not look there. */
  @Rule("S8")
  static final class CancelsNothingOfAHaltedKey extends Broken {
    @Override
    boolean mayBeCancelled(Row row, Instant now) {
      return super.mayBeCancelled(row, now)
          && !Objects.requireNonNull(keys.get(row.key)).isHalted();
    }
  }

  /** Looks at the time alone: it may wait for its second try. */
  @Rule("S8")
  static final class CancelsWhatWaitsForItsRetry extends Broken {
    @Override
    boolean mayBeCancelled(Row row, Instant now) {
      return !row.dead && !row.isDue(now);
    }
  }

  /** Remembers it with what lives as long as the process. */
  @Rule("S8")
  static final class ForgetsWhatWasCancelled extends Broken {
    @Override
    void cancel(Row row) {}
  }

  /** Says what it was asked to do, and not what it did. */
  @Rule({"S7", "O3"})
  static final class SaysWhatWasAsked extends Broken {
    @Override
    public synchronized Set<Long> requeue(Set<Long> sequences, @Nullable Who by) {
      Set<Long> requeued = super.requeue(sequences, by);
      return requeued.isEmpty() ? requeued : sequences;
    }
  }

  /** Takes no limit for an empty page. */
  @Rule("O3")
  static final class ListsNoneAtAll extends Broken {
    @Override
    public synchronized List<DeadLetter> deadLetters(long afterSequence, int limit) {
      return limit < 1 ? List.of() : super.deadLetters(afterSequence, limit);
    }
  }

  /** Leaves alone what is of a key that somebody has. */
  @Rule({"O3", "S1"})
  static final class RequeuesOnlyWhatIsFree extends Broken {
    @Override
    public synchronized Set<Long> requeue(Set<Long> sequences, @Nullable Who by) {
      Set<Long> free = new HashSet<>(sequences);
      keys.values().stream()
          .filter(key -> key.holder != null)
          .forEach(key -> free.removeAll(key.rows.keySet()));
      return super.requeue(free, by);
    }
  }

  /** Decides about several in as many transactions. */
  @Rule("O3")
  static final class DecidesOneByOne extends Broken {
    @Override
    void requeue(Row row) {
      breakNowAndThen();
      super.requeue(row);
    }

    @Override
    void discard(Row row) {
      breakNowAndThen();
      super.discard(row);
    }
  }

  /** Lets relays find out what has expired. */
  @Rule("C10")
  static final class LetsNothingExpire extends Broken {
    @Override
    StoredMessage claimed(Row row, Instant now) {
      return row.toStored();
    }
  }

  /** Takes what can expire for expired. */
  @Rule("C10")
  static final class ExpiresAtOnce extends Broken {
    @Override
    StoredMessage claimed(Row row, Instant now) {
      return row.toStored().claimedAt(Instant.MAX);
    }
  }

  /** Looks at the time of a message when it comes for the first time. */
  @Rule("C10")
  static final class ExpiresBeforeTheFirstTry extends Broken {
    @Override
    StoredMessage claimed(Row row, Instant now) {
      return row.failed ? row.toStored() : super.claimed(row, now);
    }
  }

  /** Keeps what expired for people. */
  @Rule("C10")
  static final class MakesDeadLettersOfWhatExpired extends Broken {
    @Override
    void apply(Key key, Row row, @Nullable Decision decision, boolean countedBefore) {
      boolean expired = decision instanceof Decision.Expired;
      super.apply(key, row, expired ? Decision.dead("expired") : decision, countedBefore);
    }
  }

  /** Archives what expired as if the broker had it. */
  @Rule("S7")
  static final class ArchivesWhatExpiredAsDelivered extends Broken {
    @Override
    void archive(Row row, Outcome outcome, @Nullable String answer) {
      super.archive(row, outcome == Outcome.EXPIRED ? Outcome.DELIVERED : outcome, answer);
    }
  }

  /** One that does not say that it lets messages expire. */
  abstract static class WithoutExpiry extends Broken {
    static void refuseExpiry(OutboxMessage message) {
      if (message.expiresAt() != null || message.expireAfter() != null) {
        throw new InvalidMessageException(
            "%s is given, and this store lets no message expire: leave it out"
                .formatted(message.expiresAt() != null ? "expiresAt" : "expireAfter"));
      }
    }
  }

  /** Knows no times at which messages expire. */
  @Rule("C10")
  static final class ForgetsExpiry extends WithoutExpiry {
    @Override
    Row newRow(String key, @Nullable OutboxMessage message) {
      return super.newRow(
          key,
          message == null ? null : message.toBuilder().expiresAt(null).expireAfter(null).build());
    }
  }

  /** Looks at each message when its turn to be written comes. */
  @Rule("C10")
  static final class RefusesHalfAnAppend extends WithoutExpiry {
    @Override
    Row newRow(String key, @Nullable OutboxMessage message) {
      if (message != null) {
        refuseExpiry(message);
      }
      return super.newRow(key, message);
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
    return bare(m).addHeaders(change.apply(m.headers())).maxAttempts(m.maxAttempts()).build();
  }

  /** All of a message but its headers and its most attempts. */
  private static OutboxMessage.Builder bare(OutboxMessage m) {
    return OutboxMessage.builder()
        .id(m.id())
        .aggregate(m.aggregateType(), m.aggregateId())
        .eventType(m.eventType())
        .partitionKey(m.partitionKey())
        .payload(m.payload())
        .contentType(m.contentType())
        .dedupKey(m.dedupKey())
        .correlationId(m.correlationId())
        .availableAt(m.availableAt())
        .deliverAfter(m.deliverAfter())
        .expiresAt(m.expiresAt())
        .expireAfter(m.expireAfter());
  }
}
