package dev.outbox.dev.demo;

import static java.util.Objects.requireNonNull;

import dev.outbox.dev.common.Ledger;
import dev.outbox.dev.common.Percentiles;
import dev.outbox.dev.database.Place.Effect;
import dev.outbox.dev.database.Work;
import dev.outbox.dev.torture.Oracle;
import dev.outbox.dev.torture.Oracle.Wrong;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Writes down what was committed and what arrived; the torture's oracle judges it. Commits are told
 * by many threads, deliveries by one.
 */
final class Account {
  private static final String BROKER = "broker";

  /** What the consumer made of a message. */
  enum Shipment {
    SHIPPED,
    /** It had come before, and the inbox knew it. */
    REPEATED
  }

  /**
   * @param at of {@link System#nanoTime}
   */
  private record Arrival(UUID id, String key, long at) {}

  final Ledger<String> ledger = new Ledger<>();
  private final Map<UUID, Work> works = new ConcurrentHashMap<>();
  private final Queue<Arrival> arrivals = new ConcurrentLinkedQueue<>();
  final AtomicInteger commits = new AtomicInteger();
  private final AtomicInteger rollbacks = new AtomicInteger();
  private volatile @Nullable Long quietSince;

  /**
   * A transaction is.
   *
   * @param messages those that must arrive
   * @param at when the commit returned, of {@link System#nanoTime}
   */
  void committed(List<Work> messages, long at) {
    for (Work work : messages) {
      works.put(work.id(), work);
      ledger.committed(work.id(), work.key(), at);
    }
    commits.incrementAndGet();
  }

  void rolledBack() {
    rollbacks.incrementAndGet();
  }

  void delivered(UUID id, String key, long at) {
    arrivals.add(new Arrival(id, key, at));
    ledger.published(BROKER, List.of(id), at, at);
  }

  /** From now on times are quiet: nothing that was committed before is on its way. */
  void quietFromNow() {
    quietSince = System.nanoTime();
  }

  /**
   * @param effects what a consumer made of it: {@link Shipment}s
   * @param held what is among the times
   */
  Verdict verdict(
      List<Work.DeadLetter> dead, List<Effect> effects, Demo.Settings settings, String held) {
    List<Arrival> log = List.copyOf(arrivals);
    Oracle oracle =
        new Oracle(
            works.values().stream().map(work -> new Work.Appended(work, null, false)).toList());
    Set<UUID> delivered = oracle.compareDeliveries(log.stream().map(this::delivery).toList());
    oracle.compareLost(delivered, dead, Set.of());
    Verdict verdict = new Verdict();
    verdict.row("committed", commits.get(), "transactions with %,d messages", works.size());
    verdict.row("rolled back", rollbacks.get(), "transactions");
    verdict.row("delivered", delivered.size(), "messages");
    verdict.row(
        "duplicates", ledger.repeats(), "allowed: at least once; consumers know them by the id");
    verdict.bad("lost", oracle.count(Wrong.LOST), "committed but not delivered");
    verdict.bad("leaked", oracle.count(Wrong.LEAKED), "delivered but rolled back, or a repeat");
    verdict.bad("order violations", oracle.count(Wrong.OUT_OF_ORDER), "within a key");
    verdict.bad("dead letters", dead.size(), "given up");
    judge(verdict, delivered, effects);
    verdict.row(
        "throughput",
        Math.round(throughput(log)),
        "messages a second before quiet times, with %,d transactions a second asked for",
        settings.rate());
    verdict.times("commit to delivery", times(), held);
    verdict.times(
        "  in quiet times",
        quietTimes(),
        "of %,d messages in the end, with %,d transactions a second asked for",
        quietTimes().size(),
        settings.quietRate());
    return verdict;
  }

  private static void judge(Verdict verdict, Set<UUID> delivered, List<Effect> effects) {
    List<UUID> shipped =
        effects.stream()
            .filter(effect -> effect.way().equals(Shipment.SHIPPED.name()))
            .map(effect -> UUID.fromString(effect.message()))
            .toList();
    Set<UUID> once = Set.copyOf(shipped);
    long missing = delivered.stream().filter(id -> !once.contains(id)).count();
    verdict.row(
        "effects", shipped.size(), "of them in the database of a consumer that was killed twice");
    verdict.row(
        "repetitions", effects.size() - shipped.size(), "that came to it, and its inbox knew");
    verdict.bad("effects twice", shipped.size() - once.size(), "one message, two effects");
    verdict.bad("effects missing", missing, "delivered, and not handled");
  }

  /** From commit to delivery, in milliseconds. */
  List<Double> times() {
    return ledger.millis(this::isInTurn, Ledger.Publication::called);
  }

  /** The same in quiet times. */
  List<Double> quietTimes() {
    return ledger.millis(
        commit -> isInTurn(commit) && isQuiet(commit.at()), Ledger.Publication::called);
  }

  private boolean isInTurn(Ledger.Commit commit) {
    return !requireNonNull(works.get(commit.id())).kind().overtaken();
  }

  /** With the place that it has: payloads of the demo have no number. */
  private Oracle.Delivery delivery(Arrival arrival) {
    Work work = works.get(arrival.id());
    return new Oracle.Delivery("", 0, arrival.id(), arrival.key(), work == null ? 0 : work.nth());
  }

  private boolean isQuiet(long at) {
    Long since = quietSince;
    return since != null && at - since >= 0;
  }

  /** Deliveries a second before times are quiet, from the first commit to the last delivery. */
  private double throughput(List<Arrival> log) {
    List<Arrival> busy = log.stream().filter(arrival -> !isQuiet(arrival.at())).toList();
    return busy.isEmpty()
        ? 0
        : busy.size() * 1e9 / Math.max(1, busy.get(busy.size() - 1).at() - ledger.begin());
  }

  /** What the demo's table shows, row by row. */
  static final class Verdict {
    private final List<String> rows = new ArrayList<>();
    private boolean good = true;

    /** Whether no row is one that must be zero, and is not. */
    boolean good() {
      return good;
    }

    void print(PrintWriter out) {
      rows.forEach(out::println);
      out.flush();
    }

    void row(String name, long value, String remark, Object... numbers) {
      line(name, String.format(Locale.ROOT, "%,12d", value), remark, numbers);
    }

    /** What must be zero. */
    void bad(String name, long count, String meaning) {
      good &= count == 0;
      row(name, count, count == 0 ? "" : "<-- " + meaning);
    }

    /** Times in milliseconds; no row where there are none. */
    void times(String name, List<Double> times, String remark, Object... numbers) {
      if (!times.isEmpty()) {
        String figures =
            String.format(
                Locale.ROOT,
                "p50 %,8d ms   p99 %,8d ms",
                percentile(times, 50),
                percentile(times, 99));
        line(name, figures, remark, numbers);
      }
    }

    /** So many percent took at most this long. There is at least one. */
    static long percentile(List<Double> times, int percent) {
      return Math.round(Percentiles.of(times, percent));
    }

    private void line(String name, String figures, String remark, Object... numbers) {
      String text = String.format(Locale.ROOT, remark, numbers);
      rows.add("  %-20s %s  %s".formatted(name, figures, text).stripTrailing());
    }
  }
}
