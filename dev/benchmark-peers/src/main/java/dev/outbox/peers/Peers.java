package dev.outbox.peers;

import dev.outbox.cli.Address;
import dev.outbox.dev.bench.CpuClock;
import dev.outbox.dev.common.Percentiles;
import dev.outbox.peers.Deliveries.Outcome;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The same work for all contenders: work by work, and within it contender by contender, each in a
 * schema of its own.
 */
final class Peers {
  static final List<Contender> ALL =
      List.of(Ours.publisher(), Ours.handlers(), Namastack.tuned(), Modulith.tuned());

  static final int MANY_KEYS = 10_000;
  static final int BACKLOG = 50_000;
  static final int FAILING = 2_000;
  static final int FAILING_KEYS = 100;
  static final int FAIL_EACH = 10;
  static final int RATE = 200;
  static final Duration LOAD = Duration.ofSeconds(20);
  static final Duration LIMIT = Duration.ofSeconds(30);

  private static final int A_TRANSACTION = 100;
  private static final int WARM_UP = 5_000;

  /** Before a load, so that the JVM has compiled what a transaction and its message need. */
  private static final int WARM_UP_RATE = 500;

  private static final Duration WARM_UP_LOAD = Duration.ofMinutes(1);
  private static final Duration START = Duration.ofMinutes(1);
  private static final Duration REST = Duration.ofSeconds(10);

  private final Address address;
  private final CpuClock cpu;
  private final double scale;
  private final Consumer<String> progress;

  Peers(Address address, CpuClock cpu, double scale, Consumer<String> progress) {
    this.address = address;
    this.cpu = cpu;
    this.scale = scale;
    this.progress = progress;
  }

  /**
   * What came of a work, done once.
   *
   * @param messages to be published; {@code arrived} of them were, before the time was over
   * @param seconds for those that arrived
   * @param millis from commit to publisher; empty where that is not looked at
   * @param cpu in all
   */
  record Figures(
      long messages,
      long arrived,
      double seconds,
      List<Double> millis,
      CpuClock.Time cpu,
      long statements,
      int outOfOrder,
      int twice) {

    /** Not a number where not all have arrived: those that are missing took longer. */
    double percentile(double percent) {
      return millis.isEmpty() || arrived < messages ? Double.NaN : Percentiles.of(millis, percent);
    }

    double rate() {
      return arrived / seconds;
    }

    CpuClock.Time cpuPerMessage() {
      return cpu.perMessage(arrived);
    }
  }

  /** One work, done by one contender. */
  interface Work {
    Figures of(Contender contender) throws Exception;
  }

  /** By name, in the order in which they are done. */
  Map<String, Work> works() {
    Map<String, Work> works = new LinkedHashMap<>();
    works.put("backlog, 10,000 keys", c -> backlog(c, scaled(BACKLOG), MANY_KEYS, LIMIT, m -> {}));
    works.put("backlog, 10 keys", c -> backlog(c, scaled(BACKLOG), 10, LIMIT, m -> {}));
    works.put(RATE + "/s, 10,000 keys", this::latency);
    works.put(
        "backlog, each tenth fails once",
        c ->
            backlog(
                c, FAILING, FAILING_KEYS, LIMIT.multipliedBy(2), Recorder.refusingEach(FAIL_EACH)));
    return works;
  }

  /**
   * Each work once by each contender, run by run; the first time of a contender is not measured.
   */
  Map<String, Map<Contender, List<Figures>>> run(int runs) throws Exception {
    for (Contender contender : ALL) {
      progress.accept(contender.name() + ": warm-up");
      backlog(contender, scaled(WARM_UP), 100, LIMIT.dividedBy(3), m -> {});
    }
    Map<String, Map<Contender, List<Figures>>> all = new LinkedHashMap<>();
    for (int run = 1; run <= runs; run++) {
      for (Map.Entry<String, Work> work : works().entrySet()) {
        for (Contender contender : ALL) {
          progress.accept(
              "%s, %s: run %s of %s".formatted(work.getKey(), contender.name(), run, runs));
          Figures figures = work.getValue().of(contender);
          all.computeIfAbsent(work.getKey(), w -> new LinkedHashMap<>())
              .computeIfAbsent(contender, c -> new ArrayList<>())
              .add(figures);
        }
      }
    }
    return all;
  }

  private int scaled(int full) {
    return (int) Math.max(1_000, Math.round(full * scale));
  }

  private Duration scaled(Duration full) {
    return Duration.ofMillis(Math.max(2_000, Math.round(full.toMillis() * scale)));
  }

  /**
   * Messages that wait while nothing is published; then the broker takes them. The time begins when
   * it does, and ends with the last message, or when the time is over.
   */
  private Figures backlog(
      Contender contender, int messages, int keys, Duration limit, Consumer<OrderPlaced> before)
      throws Exception {
    Recorder recorder = new Recorder(before);
    try (Schema schema = new Schema(address)) {
      try (Schema.Pool pool = schema.pool(contender.connections());
          App app = contender.fill(pool.dataSource(), Clock.systemUTC())) {
        fill(app, messages, keys);
      }
      schema.tidy();
      System.gc();
      try (Schema.Pool pool = schema.pool(contender.connections());
          App app = contender.run(pool.dataSource(), recorder)) {
        try {
          app.begin();
          app.submitBacklog();
          awaitStart(contender, recorder);
          Count count = new Count(pool.counter());
          long begin = System.nanoTime();
          recorder.open();
          long end = begin + scaled(limit).toNanos();
          while (recorder.arrived() < messages && System.nanoTime() < end) {
            LockSupport.parkNanos(1_000_000);
          }
          long arrived = recorder.arrived();
          long last = arrived == messages ? recorder.last() : end;
          return count.figures(recorder, messages, arrived, (last - begin) / 1e9, List.of());
        } finally {
          recorder.close(); // else the application would not end
        }
      }
    }
  }

  private static void awaitStart(Contender contender, Recorder recorder)
      throws InterruptedException {
    if (!recorder.awaitCall(START)) {
      throw new IllegalStateException(
          "%s published nothing for %s".formatted(contender.name(), START));
    }
  }

  /** What the clients, this JVM and the server have done since it was made. */
  private final class Count {
    private final LongAdder counter;
    private final long statements;
    private final CpuClock.Time before = cpu.now();

    Count(LongAdder counter) {
      this.counter = counter;
      statements = counter.sum();
    }

    Figures figures(
        Recorder recorder, long messages, long arrived, double seconds, List<Double> millis) {
      Outcome outcome = recorder.outcome();
      return new Figures(
          messages,
          arrived,
          seconds,
          millis,
          cpu.now().since(before),
          counter.sum() - statements,
          outcome.outOfOrder(),
          outcome.twice());
    }
  }

  private static void fill(App app, int messages, int keys) {
    for (int from = 0; from < messages; from += A_TRANSACTION) {
      int first = from;
      int end = Math.min(messages, from + A_TRANSACTION);
      app.transaction(
          () -> {
            for (int i = first; i < end; i++) {
              app.append(OrderPlaced.of("order-" + i % keys, i / keys));
            }
          });
    }
  }

  /** Transactions on a fixed schedule, with one row of the business and one message each. */
  private Figures latency(Contender contender) throws Exception {
    Recorder recorder = Recorder.opened(m -> {});
    try (Schema schema = new Schema(address);
        Schema.Pool pool = schema.pool(contender.connections());
        App app = contender.run(pool.dataSource(), recorder);
        Clients clients = new Clients(app)) {
      try {
        app.begin();
        app.transaction(() -> app.append(OrderPlaced.of("first", 0)));
        awaitStart(contender, recorder);
        await(recorder, clients.run(WARM_UP_RATE, scaled(WARM_UP_LOAD)).keySet());
        System.gc();
        Count count = new Count(pool.counter());
        long begin = System.nanoTime();
        Map<String, Long> commits = clients.run(RATE, scaled(LOAD));
        await(recorder, commits.keySet());
        double seconds = (System.nanoTime() - begin) / 1e9;
        List<Double> millis = millis(commits, recorder.times());
        return count.figures(recorder, commits.size(), millis.size(), seconds, millis);
      } finally {
        recorder.close();
      }
    }
  }

  /** Until all have arrived, or it takes too long. */
  private static void await(Recorder recorder, Set<String> messages) {
    long end = System.nanoTime() + REST.toNanos();
    while (!recorder.times().keySet().containsAll(messages) && System.nanoTime() < end) {
      LockSupport.parkNanos(10_000_000);
    }
  }

  /** Of those that have arrived. One may arrive before its client knows of the commit. */
  private static List<Double> millis(Map<String, Long> commits, Map<String, Long> times) {
    List<Double> millis = new ArrayList<>();
    commits.forEach(
        (message, commit) -> {
          Long time = times.get(message);
          if (time != null) {
            millis.add(Math.max(0, time - commit) / 1e6);
          }
        });
    return millis;
  }
}
