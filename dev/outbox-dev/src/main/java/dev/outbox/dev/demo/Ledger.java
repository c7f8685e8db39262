package dev.outbox.dev.demo;

import dev.outbox.dev.database.Place.Effect;
import dev.outbox.dev.database.Work;
import dev.outbox.dev.database.Work.Committed;
import dev.outbox.dev.database.Work.DeadLetter;
import dev.outbox.dev.torture.Delivery;
import dev.outbox.dev.torture.Oracle;
import dev.outbox.dev.torture.Oracle.Wrong;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Writes down what was appended, what became of it, and what arrived; the torture's oracle judges
 * it. The order of a key's messages is that of the versions of the order they are about, which the
 * order's own row gave out.
 *
 * <p>Appends are told by many threads, deliveries by one. A message may be delivered before its
 * commit is told.
 */
final class Ledger {
  /** So many messages a transaction has at most, and some more. */
  private static final int PLACES = 100;

  /** What the consumer made of a message. */
  enum Shipment {
    SHIPPED,
    /** It had come before, and the inbox knew it. */
    REPEATED
  }

  private enum Fate {
    OPEN,
    COMMITTED,
    ROLLED_BACK
  }

  /**
   * @param at of {@link System#nanoTime}
   */
  private record Arrival(UUID id, String key, long at) {}

  private static final class Note {
    private final Work work;
    private final boolean repeated;
    private volatile Fate fate = Fate.OPEN;
    private volatile long committedAt;

    private Note(Work work, boolean repeated) {
      this.work = work;
      this.repeated = repeated;
    }

    private boolean expected() {
      return fate == Fate.COMMITTED && !repeated;
    }
  }

  private final Map<UUID, Note> notes = new ConcurrentHashMap<>();
  private final Set<UUID> arrived = ConcurrentHashMap.newKeySet();
  private final List<Arrival> arrivals = new ArrayList<>();
  private final AtomicLong commits = new AtomicLong();
  private final AtomicLong rollbacks = new AtomicLong();
  private volatile @Nullable Long quietSince;

  /**
   * Before the transaction ends.
   *
   * @param version of the order
   * @param index within the transaction
   * @param delayed takes its turn later, so it has no place in the order
   * @param repeated its dedup key was committed before: it must not be stored
   */
  void appended(UUID id, String key, long version, int index, boolean delayed, boolean repeated) {
    int nth = Math.toIntExact(version * PLACES + index);
    Work work = new Work(id, key, nth, delayed ? Work.Kind.DELAYED : Work.Kind.PLAIN);
    notes.put(id, new Note(work, repeated));
  }

  /**
   * @param at when the commit returned, of {@link System#nanoTime}
   */
  void committed(Collection<UUID> ids, long at) {
    for (UUID id : ids) {
      Note note = note(id);
      note.committedAt = at;
      note.fate = Fate.COMMITTED;
    }
    commits.incrementAndGet();
  }

  void rolledBack(Collection<UUID> ids) {
    ids.forEach(id -> note(id).fate = Fate.ROLLED_BACK);
    rollbacks.incrementAndGet();
  }

  private Note note(UUID id) {
    Note note = notes.get(id);
    if (note == null) {
      throw new IllegalStateException("message " + id + " ends without having been appended");
    }
    return note;
  }

  void delivered(UUID id, String key, long at) {
    synchronized (arrivals) {
      arrivals.add(new Arrival(id, key, at));
    }
    arrived.add(id);
  }

  /** How many different messages arrived so far. */
  long arrived() {
    return arrived.size();
  }

  /** How many committed messages did not arrive yet. */
  long outstanding() {
    return notes.entrySet().stream()
        .filter(e -> e.getValue().expected() && !arrived.contains(e.getKey()))
        .count();
  }

  /** From now on times are quiet: nothing that was committed before is on its way. */
  void quietFromNow() {
    quietSince = System.nanoTime();
  }

  /** How many transactions were committed so far. */
  long commits() {
    return commits.get();
  }

  /**
   * @param dead the ids of the dead letters
   * @param effects what a consumer made of it: {@link Shipment}s
   */
  Verdict verdict(Set<UUID> dead, List<Effect> effects) {
    List<Arrival> log;
    synchronized (arrivals) {
      log = List.copyOf(arrivals);
    }
    List<Note> expected = notes.values().stream().filter(Note::expected).toList();
    Oracle oracle =
        new Oracle(expected.stream().map(note -> new Committed(note.work, null)).toList());
    Set<UUID> delivered = oracle.compareDeliveries(log.stream().map(this::delivery).toList());
    oracle.compareLost(
        delivered, dead.stream().map(id -> new DeadLetter(id, 0)).toList(), Set.of());
    List<UUID> shipped =
        effects.stream()
            .filter(effect -> effect.way().equals(Shipment.SHIPPED.name()))
            .map(effect -> UUID.fromString(effect.message()))
            .toList();
    Set<UUID> shippedOnce = Set.copyOf(shipped);
    List<Double> all = new ArrayList<>();
    List<Double> quiet = new ArrayList<>();
    Set<UUID> first = new HashSet<>();
    for (Arrival arrival : log) {
      Note note = notes.get(arrival.id());
      if (first.add(arrival.id())
          && note != null
          && note.expected()
          && !note.work.kind().overtaken()) {
        double took = Math.max(0, arrival.at() - note.committedAt) / 1e6;
        all.add(took);
        if (isQuiet(note.committedAt)) {
          quiet.add(took);
        }
      }
    }
    return new Verdict(
        commits.get(),
        expected.size(),
        rollbacks.get(),
        delivered.size(),
        log.size() - first.size(),
        oracle.count(Wrong.LOST),
        oracle.count(Wrong.LEAKED),
        oracle.count(Wrong.OUT_OF_ORDER),
        dead.size(),
        shipped.size(),
        effects.size() - shipped.size(),
        shipped.size() - shippedOnce.size(),
        delivered.stream().filter(id -> !shippedOnce.contains(id)).count(),
        throughput(expected, log),
        all,
        quiet);
  }

  /** With the place that it has: payloads of the demo have no number. */
  private Delivery delivery(Arrival arrival) {
    Note note = notes.get(arrival.id());
    return new Delivery("", 0, arrival.id(), arrival.key(), note == null ? 0 : note.work.nth());
  }

  private boolean isQuiet(long at) {
    Long since = quietSince;
    return since != null && at - since >= 0;
  }

  /** Deliveries a second before times are quiet, from the first commit to the last delivery. */
  private double throughput(List<Note> expected, List<Arrival> log) {
    long begin =
        expected.stream()
            .mapToLong(n -> n.committedAt)
            .reduce((a, b) -> a - b < 0 ? a : b)
            .orElse(0);
    List<Arrival> busy = log.stream().filter(arrival -> !isQuiet(arrival.at())).toList();
    return busy.isEmpty()
        ? 0
        : busy.size() * 1e9 / Math.max(1, busy.get(busy.size() - 1).at() - begin);
  }
}
