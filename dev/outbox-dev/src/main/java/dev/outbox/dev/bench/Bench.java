package dev.outbox.dev.bench;

import dev.outbox.dev.bench.Report.Line;
import dev.outbox.dev.broker.KafkaBroker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** What scenarios need, and where they report to. */
final class Bench {
  private static final Duration BREATH = Duration.ofMillis(100);
  private static final int LEAST = 100;

  private final int runs;
  private final double scale;
  private final BenchDatabase<?> database;
  private final CpuClock cpu;
  private final Supplier<String> kafka;
  private final Consumer<String> progress;
  private final List<Line> lines = new ArrayList<>();

  Bench(
      int runs,
      double scale,
      BenchDatabase<?> database,
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

  int runs() {
    return runs;
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
    return Duration.ofMillis(Math.max(1_000, Math.round(full.toMillis() * scale)));
  }

  BenchDatabase<?> database() {
    return database;
  }

  CpuClock cpu() {
    return cpu;
  }

  /** A topic for messages of orders that nobody else uses; the first call may start a broker. */
  KafkaBroker topic() {
    String name = "outbox-bench-" + UUID.randomUUID().toString().substring(0, 8);
    KafkaBroker topic = new KafkaBroker(kafka.get(), name, List.of(OpenLoad.ORDER));
    topic.createTopics();
    return topic;
  }

  void progress(String text) {
    progress.accept(text);
  }

  /** What was reported so far. */
  List<Line> lines() {
    return lines;
  }

  void report(Line line) {
    lines.add(line);
  }

  /** Before each timed run: no garbage of the last one, and a moment of rest. */
  void settle() {
    System.gc();
    LockSupport.parkNanos((long) (BREATH.toNanos() * Math.min(1, scale)));
  }
}
