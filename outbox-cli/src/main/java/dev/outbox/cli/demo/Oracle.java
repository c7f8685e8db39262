package dev.outbox.cli.demo;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Knows what was appended, what became of it, and what arrived; and says what is wrong with that.
 * It relies on nothing that it checks: the order of a key's messages is that of the versions of the
 * order they are about, which the order's own row gave out.
 *
 * <p>Appends are told by many threads, deliveries by one. A message may be delivered before its
 * commit is told.
 */
final class Oracle {
  enum Fate {
    OPEN,
    COMMITTED,
    ROLLED_BACK
  }

  /**
   * What the service appends.
   *
   * @param version of the order
   * @param index within the transaction
   * @param delayed takes its turn later, so it has no place in the order
   * @param repeated its dedup key was committed before: it must not be stored
   */
  record Appended(
      UUID id, String key, long version, int index, boolean delayed, boolean repeated) {}

  /**
   * What arrived.
   *
   * @param at of {@link System#nanoTime}
   */
  private record Delivery(UUID id, String key, long at) {}

  private static final class Note {
    private final Appended message;
    private volatile Fate fate = Fate.OPEN;
    private volatile long committedAt;

    private Note(Appended message) {
      this.message = message;
    }

    private boolean expected() {
      return fate == Fate.COMMITTED && !message.repeated();
    }
  }

  private final Map<UUID, Note> notes = new ConcurrentHashMap<>();
  private final Set<UUID> arrived = ConcurrentHashMap.newKeySet();
  private final List<Delivery> deliveries = new ArrayList<>();
  private final AtomicLong commits = new AtomicLong();
  private final AtomicLong rollbacks = new AtomicLong();

  /** Before the transaction ends. */
  void appended(Appended message) {
    notes.put(message.id(), new Note(message));
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
    synchronized (deliveries) {
      deliveries.add(new Delivery(id, key, at));
    }
    arrived.add(id);
  }

  /** How many different messages arrived so far. */
  long arrived() {
    return arrived.size();
  }

  /** How many transactions were committed so far. */
  long commits() {
    return commits.get();
  }

  /**
   * @param dead the ids of the dead letters
   * @param disturbances when deliveries were held up on purpose
   */
  Verdict verdict(Set<UUID> dead, List<Disturbance> disturbances) {
    Map<UUID, Delivery> first = new HashMap<>();
    Map<String, long[]> highest = new HashMap<>();
    Latencies all = new Latencies();
    Latencies quiet = new Latencies();
    long leaked = 0;
    long disorder = 0;
    List<Delivery> log;
    synchronized (deliveries) {
      log = List.copyOf(deliveries);
    }
    for (Delivery delivery : log) {
      if (first.putIfAbsent(delivery.id(), delivery) != null) {
        continue;
      }
      Note note = notes.get(delivery.id());
      if (note == null || !note.expected() || !note.message.key().equals(delivery.key())) {
        leaked++;
      } else if (!note.message.delayed()) {
        disorder += inOrder(note.message, highest) ? 0 : 1;
        long from = note.committedAt;
        long took = Math.max(0, delivery.at() - from);
        all.add(took);
        if (disturbances.stream().noneMatch(d -> d.meets(from, delivery.at()))) {
          quiet.add(took);
        }
      }
    }
    List<Note> expected = notes.values().stream().filter(Note::expected).toList();
    long delivered = expected.stream().filter(n -> first.containsKey(n.message.id())).count();
    long lost =
        expected.stream()
            .map(n -> n.message.id())
            .filter(id -> !first.containsKey(id) && !dead.contains(id))
            .count();
    return new Verdict(
        commits.get(),
        expected.size(),
        rollbacks.get(),
        notes.values().stream().filter(n -> n.message.repeated()).count(),
        delivered,
        log.size() - first.size(),
        lost,
        leaked,
        disorder,
        dead.size(),
        throughput(log),
        all,
        quiet);
  }

  /** Whether it comes after all that arrived of its key; versions and indexes are small. */
  private static boolean inOrder(Appended message, Map<String, long[]> highest) {
    long[] last = highest.computeIfAbsent(message.key(), k -> new long[] {-1, -1});
    if (message.version() < last[0]
        || (message.version() == last[0] && message.index() < last[1])) {
      return false;
    }
    last[0] = message.version();
    last[1] = message.index();
    return true;
  }

  /** Deliveries a second, from the first commit to the last delivery. */
  private double throughput(List<Delivery> log) {
    long begin =
        notes.values().stream()
            .filter(Note::expected)
            .mapToLong(n -> n.committedAt)
            .reduce((a, b) -> a - b < 0 ? a : b)
            .orElse(0);
    return log.isEmpty() ? 0 : log.size() * 1e9 / Math.max(1, log.get(log.size() - 1).at() - begin);
  }

  /**
   * @param from of {@link System#nanoTime}
   * @param to the same
   */
  record Disturbance(long from, long to) {
    boolean meets(long begin, long end) {
      return end - from >= 0 && begin - to <= 0;
    }
  }

  /** What the table shows. */
  record Verdict(
      long commits,
      long messages,
      long rollbacks,
      long repeats,
      long delivered,
      long duplicates,
      long lost,
      long leaked,
      long orderViolations,
      long deadLetters,
      double throughput,
      Latencies all,
      Latencies quiet) {

    boolean good() {
      return lost == 0 && leaked == 0 && orderViolations == 0 && deadLetters == 0;
    }
  }
}
