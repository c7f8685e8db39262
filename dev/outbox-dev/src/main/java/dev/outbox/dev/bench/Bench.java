package dev.outbox.dev.bench;

import dev.outbox.dev.bench.Report.Line;
import dev.outbox.dev.broker.KafkaBroker;
import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Runs scenarios: what they need, and where they report to. */
final class Bench {
  /** The scale at which all scenarios together take a minute or two. */
  static final double QUICK = 0.05;

  private static final Duration BREATH = Duration.ofMillis(100);
  private static final int LEAST = 100;

  /** Timed ones, at least 1. */
  final int runs;

  private final double scale;
  final BenchDatabase database;

  /** With the servers. */
  final CpuClock cpu;

  private final Supplier<String> kafka;
  private final Consumer<String> progress;
  private final Map<String, Line> lines = new LinkedHashMap<>();
  private String current = "";

  /**
   * @param scale of all sizes and durations; 1: the full ones
   * @param cpu to which {@code kafka} may add a server
   * @param kafka the bootstrap servers; asked only when a scenario needs a broker
   * @param progress told what is being done, in a few words
   */
  Bench(
      int runs,
      double scale,
      BenchDatabase database,
      CpuClock cpu,
      Supplier<String> kafka,
      Consumer<String> progress) {
    this.runs = runs;
    this.scale = scale;
    this.database = database;
    this.cpu = cpu;
    this.kafka = kafka;
    this.progress = progress;
  }

  /**
   * Runs scenarios, one after the other.
   *
   * @param scenarios empty: all
   * @param end gets what was measured, also where a scenario fails
   */
  void run(Set<Scenario> scenarios, Consumer<Report> end) throws Exception {
    Map<String, String> about = new LinkedHashMap<>(Machine.describe());
    about.putAll(database.describe());
    about.put("runs", "" + runs);
    about.put("scale", "" + scale);
    Map<String, String> notes = new LinkedHashMap<>();
    try {
      for (Scenario scenario :
          EnumSet.copyOf(scenarios.isEmpty() ? EnumSet.allOf(Scenario.class) : scenarios)) {
        current = scenario.toString();
        notes.put(current, scenario.what);
        scenario.run.of(this);
      }
    } finally {
      List<Line> measured =
          lines.values().stream().filter(line -> !line.ours().runs().isEmpty()).toList();
      if (!measured.isEmpty()) {
        about.put("server CPU", cpu.describe());
        end.accept(new Report(about, measured, notes));
      }
    }
  }

  /** A number of messages, keys, transactions; at least {@value #LEAST}. */
  int scaled(int full) {
    return scaled(full, Math.min(full, LEAST));
  }

  /** A number of something; at least {@code least}. */
  int scaled(int full, int least) {
    return (int) Math.max(least, Math.round(full * scale));
  }

  /** How long something is watched; at least a second. */
  Duration scaled(Duration full) {
    return times(full, scale);
  }

  /** In full from the scale {@value #QUICK} on; below it shorter, at least a second. */
  Duration unscaled(Duration full) {
    return times(full, Math.min(1, scale / QUICK));
  }

  private static Duration times(Duration full, double factor) {
    return Duration.ofMillis(Math.max(1_000, Math.round(full.toMillis() * factor)));
  }

  /** A topic for messages of orders that nobody else uses; the first call may start a broker. */
  KafkaBroker topic() {
    String name = "outbox-bench-" + UUID.randomUUID().toString().substring(0, 8);
    KafkaBroker topic = new KafkaBroker(kafka.get(), name, List.of(BenchClient.ORDER));
    // With the torture's limit, below a batch, the client would split each and send it again.
    topic.createTopics(Map.of());
    return topic;
  }

  void say(String doing) {
    progress.accept(current + ": " + doing);
  }

  /**
   * Says which run of it is under way.
   *
   * @param run from 1; 0: the warm-up
   */
  void say(String name, int run) {
    String which = run == 0 ? "warm-up" : "run %s of %s".formatted(run, runs);
    progress.accept("%s, %s: %s".formatted(current, name, which));
  }

  /**
   * A line of the report, to which each run adds its figures; the first one makes it.
   *
   * @param unit as "messages/s"
   */
  Line line(String name, String unit) {
    return lines.computeIfAbsent(current + ": " + name, key -> new Line(current, name, unit));
  }

  /** Adds a run's figure to a line that has no limit. */
  void report(String name, String unit, double value) {
    line(name, unit).ours().add(value);
  }

  /** Before each timed run: no garbage of the last one, and a moment of rest. */
  void settle() {
    System.gc();
    LockSupport.parkNanos((long) (BREATH.toNanos() * Math.min(1, scale)));
  }
}
