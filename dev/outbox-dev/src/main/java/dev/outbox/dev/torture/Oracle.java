package dev.outbox.dev.torture;

import static java.util.Objects.requireNonNull;

import dev.outbox.dev.database.Work;
import dev.outbox.dev.database.Work.Appended;
import dev.outbox.dev.database.Work.Kind;
import dev.outbox.dev.torture.Journal.Line;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Compares what was committed with what arrived and with what the journals tell. It knows nothing
 * of the library but its contract: what was committed stands in the producers' own table, what
 * arrived in the broker's log.
 */
public final class Oracle {
  /**
   * A record that the broker has.
   *
   * @param partition with its topic
   */
  public record Delivery(String partition, long offset, UUID id, String key, int nth) {}

  /**
   * From when to when somebody surely had a key.
   *
   * @param by a claim, or a lock
   */
  record Held(String by, long begin, long end) {

    /**
     * Compares all that had a key.
     *
     * @param sentence of the key, and two of which one began before the other's end
     * @param wrong is told it
     */
    static void compare(Map<String, List<Held>> byKey, String sentence, Consumer<String> wrong) {
      byKey.forEach(
          (key, all) -> {
            all.sort(Comparator.comparingLong(Held::begin));
            Held latest = all.get(0);
            for (Held next : all.subList(1, all.size())) {
              if (next.begin() < latest.end()) {
                wrong.accept(sentence.formatted(key, latest, next));
              }
              latest = next.end() > latest.end() ? next : latest;
            }
          });
    }
  }

  private final Map<UUID, Appended> committed = new HashMap<>();

  /** Dedup keys of those that were refused. */
  private final Set<String> refused = new HashSet<>();

  /** What is wrong, a sentence each. */
  final List<String> violations = new ArrayList<>();

  private final Map<Wrong, Integer> counts = new EnumMap<>(Wrong.class);

  /** What a producer and a consumer see, beside what only journals tell. */
  public enum Wrong {
    LOST,
    LEAKED,
    OUT_OF_ORDER,
    OTHER
  }

  /**
   * @param appended by producers whose transactions committed
   */
  public Oracle(List<Appended> appended) {
    for (Appended one : appended) {
      if (one.refused()) {
        refused.add(String.valueOf(one.dedup()));
      } else {
        committed.put(one.work().id(), one);
      }
    }
  }

  private void wrong(String sentence, @Nullable Object... details) {
    wrong(Wrong.OTHER, sentence, details);
  }

  private void wrong(Wrong kind, String sentence, @Nullable Object... details) {
    violations.add(sentence.formatted(details));
    counts.merge(kind, 1, Integer::sum);
  }

  /** How often something of a kind is wrong. */
  public int count(Wrong kind) {
    return counts.getOrDefault(kind, 0);
  }

  /**
   * The broker's log: all that was committed, nothing else (A1), first deliveries in order (O1).
   */
  public Set<UUID> compareDeliveries(List<Delivery> log) {
    Map<String, Integer> last = new HashMap<>();
    Set<UUID> delivered = new HashSet<>();
    for (Delivery delivery : log) {
      Appended one = committed.get(delivery.id());
      if (one == null) {
        wrong(Wrong.LEAKED, "delivered, but never committed: %s", delivery);
        continue;
      }
      Work work = one.work();
      if (!work.key().equals(delivery.key()) || work.nth() != delivery.nth()) {
        wrong(Wrong.LEAKED, "delivered with another key or payload: %s as %s", work, delivery);
      }
      if (!delivered.add(work.id()) || work.kind().overtaken()) {
        continue;
      }
      Integer before = last.merge(work.key(), work.nth(), Math::max);
      if (before > work.nth()) {
        wrong(Wrong.OUT_OF_ORDER, "out of order, after number %s of its key: %s", before, delivery);
      }
    }
    return delivered;
  }

  /**
   * Each committed message has arrived, or is a dead letter, or somebody has discarded it; what had
   * expired when it was appended is none of these (C10).
   */
  public void compareLost(Set<UUID> delivered, List<Work.DeadLetter> letters, Set<UUID> discarded) {
    Set<UUID> dead = new HashSet<>();
    letters.forEach(letter -> dead.add(letter.id()));
    for (Appended one : committed.values()) {
      Work work = one.work();
      UUID id = work.id();
      boolean expires = work.kind() == Kind.EXPIRED;
      if (!expires && !delivered.contains(id) && !dead.contains(id) && !discarded.contains(id)) {
        wrong(Wrong.LOST, "lost: %s", work);
      }
      if (!work.kind().repairable() && delivered.contains(id)) {
        wrong(
            "delivered, though %s: %s",
            expires ? "it had expired" : "the broker cannot take it", work);
      }
      if (expires && dead.contains(id)) {
        wrong("dead, though it had expired: %s", work);
      }
    }
    dead.removeAll(committed.keySet());
    dead.forEach(id -> wrong("a dead letter that was never committed: %s", id));
  }

  /**
   * Each committed message is either in the outbox or, once, in its archive, with the right reason
   * (S7).
   *
   * @param left those that are in the outbox
   */
  void compareArchive(
      List<Work.Archived> archive, List<UUID> left, Set<UUID> delivered, Set<UUID> discarded) {
    Set<UUID> waiting = new HashSet<>(left);
    Set<UUID> gone = new HashSet<>();
    for (Work.Archived one : archive) {
      Appended known = committed.get(one.id());
      if (known == null) {
        wrong(Wrong.LEAKED, "archived, but never committed: %s", one);
      } else if (!gone.add(one.id())) {
        wrong("archived twice: %s", one);
      } else if (waiting.contains(one.id())) {
        wrong("archived, but still in the outbox: %s", one);
      } else if (switch (one.outcome()) {
        case DELIVERED -> !delivered.contains(one.id());
        case DISCARDED -> !discarded.contains(one.id());
        case EXPIRED -> known.work().kind() != Kind.EXPIRED;
      }) {
        wrong("archived for a reason that is none: %s", one);
      }
    }
    for (Appended one : committed.values()) {
      if (!gone.contains(one.work().id()) && !waiting.contains(one.work().id())) {
        wrong(Wrong.LOST, "has left, but is not in the archive: %s", one.work());
      }
    }
  }

  /**
   * What the operator was told that it had decided is in the audit, so often.
   *
   * @param audit as {@code requeue 4711}
   */
  void compareAudit(List<Line> lines, List<String> audit) {
    List<String> left = new ArrayList<>(audit);
    for (Line line : Journal.of(lines, "requeue", "discard", "cancel")) {
      String what = line.what().equals("requeue") ? "requeue " : "discard ";
      if (line.detail(2).equals("true") && !left.remove(what + line.number(0))) {
        wrong("decided, but not in the audit: %s", line);
      }
    }
  }

  /** What was cancelled, as somebody was told, never comes (S8). Returns how many were. */
  int compareCancelled(List<Line> lines, Set<UUID> delivered) {
    List<Line> cancelled =
        Journal.of(lines, "cancel").stream().filter(line -> line.detail(2).equals("true")).toList();
    for (Line line : cancelled) {
      if (delivered.contains(UUID.fromString(line.detail(1)))) {
        wrong("delivered, though it was cancelled: %s", line);
      }
    }
    return cancelled.size();
  }

  /** What producers were told stands in their table, where the commit was durable. */
  void compareCommits(List<Line> lines) {
    for (Line line : Journal.of(lines, "committed")) {
      for (String id : line.detail(0).equals("true") ? line.list(1) : List.<String>of()) {
        if (!committed.containsKey(UUID.fromString(id))) {
          wrong("the database lost a durable commit, of which %s was told: %s", line.process(), id);
        }
      }
    }
  }

  /** A dedup key is stored once, and what was refused because of it was stored (A4). */
  void compareDuplicates() {
    Set<String> stored = new HashSet<>();
    for (Appended one : committed.values()) {
      if (one.dedup() != null && !stored.add(one.dedup())) {
        wrong("stored twice: dedup key %s", one.dedup());
      }
    }
    for (String dedup : refused) {
      if (!stored.contains(dedup)) {
        wrong("refused as a duplicate, but the first is not there: dedup key %s", dedup);
      }
    }
  }

  /** Each record that the broker has was got by a consumer. */
  void compareConsumers(List<Line> lines, List<Delivery> log) {
    Set<String> got = new HashSet<>();
    Journal.of(lines, "got").forEach(line -> got.add(line.detail(0) + " " + line.number(1)));
    for (Delivery delivery : log) {
      if (!got.contains(delivery.partition() + " " + delivery.offset())) {
        wrong("no consumer got %s", delivery);
      }
    }
  }

  /** What was settled as delivered is in no claim that was asked for later (S1, C9). */
  void compareSettled(List<Line> lines) {
    Map<Long, Long> deliveredAt = new HashMap<>();
    for (Line line : Journal.of(lines, "delivered")) {
      line.list(1)
          .forEach(sequence -> deliveredAt.merge(Long.valueOf(sequence), line.at(), Math::min));
    }
    for (Line line : Journal.of(lines, "claim")) {
      for (String message : line.list(3)) {
        long sequence = Long.parseLong(message.split("\\|", 2)[0]);
        if (line.number(1) > deliveredAt.getOrDefault(sequence, Long.MAX_VALUE)) {
          wrong(
              "claimed by %s after it was settled as delivered: sequence %s",
              line.numbered(), sequence);
        }
      }
    }
  }

  /** No key is in two live claims (C1). Returns how many claims there were. */
  int compareClaims(List<Line> lines) {
    Map<String, Span> claims = new HashMap<>();
    for (Line line : lines) {
      switch (line.what()) {
        case "claim" -> claims.put(line.numbered(), new Span(line));
        case "renewed" -> requireNonNull(claims.get(line.numbered())).renewed(line);
        case "settle" -> requireNonNull(claims.get(line.numbered())).settle(line);
        case "settled" -> requireNonNull(claims.get(line.numbered())).settled(line);
        default -> {}
      }
    }
    Map<String, List<Held>> byKey = new HashMap<>();
    Seen seen = new Seen(lines);
    claims.forEach((name, span) -> span.lived(name, seen, byKey));
    Held.compare(byKey, "key %s is in two live claims: %s and %s", this::saw);
    return claims.size();
  }

  /**
   * How long others have seen that a process lives. One that was killed writes nothing more, and
   * others may end its leases; and those of one that has lost the session by which they see it.
   */
  private static final class Seen {

    /** It is noticed that late at most that a session was lost, while the process runs. */
    private static final long NOTICED = Duration.ofSeconds(1).toNanos();

    private final Set<String> unseen = new HashSet<>();
    private final Map<String, NavigableSet<Long>> wrote = new HashMap<>();
    private final Map<String, NavigableSet<Long>> lost = new HashMap<>();

    private Seen(List<Line> lines) {
      for (Line line : lines) {
        add(wrote, line);
        switch (line.what()) {
          case "unseen" -> unseen.add(line.process());
          case "session-lost" -> add(lost, line);
          default -> {}
        }
      }
    }

    private static void add(Map<String, NavigableSet<Long>> times, Line line) {
      times.computeIfAbsent(line.process(), process -> new TreeSet<>()).add(line.at());
    }

    /**
     * Until when a lease was safe from those who believe its process dead. One that stood still
     * when its session was lost wrote nothing meanwhile, so its last line before counts.
     */
    private long until(String process, long begin) {
      if (unseen.contains(process)) {
        return Long.MAX_VALUE;
      }
      NavigableSet<Long> lines = requireNonNull(wrote.get(process));
      Long noticed = lost.getOrDefault(process, new TreeSet<>()).ceiling(begin);
      if (noticed == null) {
        return lines.last() + 1;
      }
      Long ran = lines.floor(noticed - NOTICED);
      return ran == null ? begin : ran;
    }
  }

  /** One claim: until when it surely lasted, for each of its messages. */
  private static final class Span {
    private final String process;
    private final long begin;
    private final Map<String, String> keys = new HashMap<>();
    private final Map<String, Long> leasedUntil = new HashMap<>();
    private Set<String> kept = Set.of();
    private long settle = Long.MAX_VALUE;

    private Span(Line line) {
      process = line.process();
      begin = line.at();
      for (String message : line.list(3)) {
        String[] part = message.split("\\|", 2);
        keys.put(part[0], part[1]);
        leasedUntil.put(part[0], line.number(1) + line.number(2));
      }
    }

    private void renewed(Line line) {
      line.list(3).forEach(sequence -> leasedUntil.put(sequence, line.number(1) + line.number(2)));
    }

    /** The first time counts: it may have been done, and only the answer lost. */
    private void settle(Line line) {
      settle = Math.min(settle, line.at());
    }

    private void settled(Line line) {
      kept = Set.copyOf(line.list(1));
    }

    /**
     * What was accepted was ours until then; else the lease lasted as long as it was promised by
     * the database's clock, which began to count after we asked, and while its process was seen.
     */
    private void lived(String name, Seen seen, Map<String, List<Held>> byKey) {
      long safe = seen.until(process, begin);
      Map<String, Long> ends = new HashMap<>();
      keys.forEach(
          (sequence, key) -> {
            long end =
                kept.contains(sequence)
                    ? settle
                    : Math.min(safe, Math.min(settle, leasedUntil.getOrDefault(sequence, begin)));
            ends.merge(key, end, Math::max);
          });
      ends.forEach(
          (key, end) -> {
            if (end > begin) { // else it was over before it was given
              byKey.computeIfAbsent(key, k -> new ArrayList<>()).add(new Held(name, begin, end));
            }
          });
    }
  }

  /** A dead letter was rejected for a reason, or has failed as often as it had attempts (P3). */
  void compareReasons(List<Line> lines, List<Work.DeadLetter> letters) {
    Map<Long, UUID> ids = new HashMap<>();
    letters.forEach(letter -> ids.put(letter.sequence(), letter.id()));
    Set<Long> dead = new HashSet<>(ids.keySet());
    // A call that threw may have been an attempt of each, and so may a claim that was never
    // settled:
    // the process was killed, or the publisher hung.
    Map<String, List<String>> calls = new HashMap<>();
    Map<String, List<String>> claims = new HashMap<>();
    Map<Long, Integer> failures = new HashMap<>();
    Set<Long> rejected = new HashSet<>();
    for (Line line : lines) {
      switch (line.what()) {
        case "claim" ->
            claims.put(
                line.numbered(), line.list(3).stream().map(m -> m.split("\\|", 2)[0]).toList());
        case "settled" -> claims.remove(line.numbered());
        case "publish" -> calls.put(line.numbered(), line.list(1));
        case "results" -> {
          calls.remove(line.numbered());
          for (String result : line.list(1)) {
            String[] part = result.split("\\|", 2);
            long sequence = Long.parseLong(part[0]);
            if (part[1].equals("Rejected")) {
              rejected.add(sequence);
            } else if (part[1].equals("Failed")) {
              failures.merge(sequence, 1, Integer::sum);
            }
          }
        }
        case "dead" -> dead.add(line.number(0));
        case "letter" -> ids.put(line.number(0), UUID.fromString(line.detail(1)));
        default -> {}
      }
    }
    Stream.concat(calls.values().stream(), claims.values().stream())
        .flatMap(List::stream)
        .forEach(sequence -> failures.merge(Long.valueOf(sequence), 1, Integer::sum));
    for (long sequence : dead) {
      Appended one = committed.get(ids.getOrDefault(sequence, new UUID(0, 0)));
      Kind kind = one == null ? Kind.PLAIN : one.work().kind();
      int failed = failures.getOrDefault(sequence, 0);
      if (one != null && rejected.contains(sequence) && !kind.rejected()) {
        wrong("rejected, though the broker takes it: sequence %s, %s", sequence, one);
      }
      if (!rejected.contains(sequence) && failed < Work.attempts(kind)) {
        wrong(
            "dead after %s failures, of %s: sequence %s, %s",
            failed, Work.attempts(kind), sequence, one);
      }
    }
  }

  /** Something is wrong that was seen in between. */
  void saw(String violation) {
    wrong("%s", violation);
  }

  /** Of the messages that were committed. */
  int count() {
    return committed.size();
  }
}
