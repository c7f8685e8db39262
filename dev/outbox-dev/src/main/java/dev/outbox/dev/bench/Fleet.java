package dev.outbox.dev.bench;

import dev.outbox.dev.broker.KafkaBroker;
import dev.outbox.dev.common.Ledger;
import dev.outbox.dev.common.Percentiles;
import dev.outbox.dev.database.Place;
import dev.outbox.embedded.ChildJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The pods of one service. */
final class Fleet implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final Duration LOOK = Duration.ofMillis(50);

  private final Bench bench;
  private final Map<String, String> settings;
  final Ledger<Pod> ledger = new Ledger<>();
  final List<Pod> pods = new ArrayList<>();

  /** Of all pods. */
  private int clients;

  /** How many relays a pod has, and how many clients that append. */
  record Shape(int relays, int clients) {}

  /** What was done so far. */
  record Usage(long statements, long cpuNanos) {
    Usage since(Usage before) {
      return new Usage(statements - before.statements, cpuNanos - before.cpuNanos);
    }
  }

  /**
   * What became of a load.
   *
   * @param called milliseconds from a message's commit to the call of the publisher
   * @param acknowledged the same, to the end of that call
   * @param statements a message
   * @param cpu a message
   */
  record Outcome(
      List<Double> called, List<Double> acknowledged, double statements, CpuClock.Time cpu) {

    /**
     * @param ledger of all that was committed and published
     * @param done by all processes that took part
     * @param server nanoseconds of CPU time
     */
    static Outcome of(Ledger<?> ledger, Usage done, double server) {
      int messages = ledger.committed();
      return new Outcome(
          ledger.millis(commit -> true, Ledger.Publication::called),
          ledger.millis(commit -> true, Ledger.Publication::acknowledged),
          (double) done.statements() / messages,
          new CpuClock.Time(server, done.cpuNanos()).perMessage(messages));
    }

    /** Adds to lines how long it took to the publisher, and what a message costs. */
    void report(Bench bench, String name) {
      report(bench, name, called);
      reportCost(bench, name);
    }

    void reportCost(Bench bench, String name) {
      bench.line(name + ", statements", "a message").ours().add(statements, cpu);
    }

    /** Adds percentiles of {@link #called} or {@link #acknowledged} to lines. */
    static void report(Bench bench, String name, List<Double> times) {
      bench.report(name + ", p50", "ms", Percentiles.of(times, 50));
      bench.report(name + ", p99", "ms", Percentiles.of(times, 99));
    }
  }

  /**
   * A place in the fleet, which one process after the other takes: a JVM of its own, with relays,
   * and clients that append.
   */
  final class Pod {
    private final Map<String, String> own = new HashMap<>(settings);
    private ChildJvm jvm;

    /** Returns before it is ready. */
    private Pod(Shape shape) {
      own.put("relays", "" + shape.relays());
      own.put("clients", "" + shape.clients());
      own.put("first-client", "" + clients);
      clients += shape.clients();
      jvm = start();
    }

    private ChildJvm start() {
      return ChildJvm.startWithDefaults(PodMain.class, own);
    }

    /** Waits for the answer to a command; all that was committed and published before is known. */
    private Usage answer() {
      String line = jvm.line();
      while (heard(line)) {
        line = jvm.line();
      }
      String[] part = line.split(" ");
      return new Usage(Long.parseLong(part[1]), Long.parseLong(part[2]));
    }

    /** Returns whether the line told of what it has committed or published. */
    private boolean heard(String line) {
      String[] part = line.split(" ");
      switch (part[0]) {
        case PodMain.COMMITTED ->
            ledger.committed(UUID.fromString(part[1]), part[2], Long.parseLong(part[3]));
        case PodMain.PUBLISHED ->
            ledger.published(
                this,
                Stream.of(part).skip(3).map(UUID::fromString).toList(),
                Long.parseLong(part[1]),
                Long.parseLong(part[2]));
        default -> {
          return false;
        }
      }
      return true;
    }

    private void load(int rate) {
      jvm.send("%s %s %s".formatted(PodMain.LOAD, rate, clients));
      Usage ignored = answer();
    }

    /** Ends it in good order. */
    void end() {
      jvm.send(PodMain.END);
      jvm.rest().forEach(this::heard);
    }

    /** By SIGKILL. */
    void kill() {
      jvm.close();
      jvm.rest().forEach(this::heard);
    }

    /** Another process takes the place of one that has ended, and its part of the load. */
    void replace(int rate) {
      jvm = start();
      jvm.await(PodMain.READY);
      load(rate);
    }
  }

  /**
   * Empties the outbox; ready when it returns.
   *
   * @param keys of messages
   * @param woken how the first relay of a pod hears of commits there
   * @param topic where relays publish to; null: nowhere, as fast as can be
   */
  Fleet(
      Bench bench,
      List<Shape> shapes,
      int keys,
      BenchClient.Woken woken,
      @Nullable KafkaBroker topic) {
    this.bench = bench;
    settings = new HashMap<>(Place.settings(bench.database.own));
    settings.put("keys", "" + keys);
    settings.put("woken", woken.name());
    if (topic != null) {
      settings.putAll(topic.settings());
    }
    bench.database.empty(BenchDatabase.Side.OURS);
    try {
      shapes.forEach(shape -> pods.add(new Pod(shape)));
      pods.forEach(pod -> pod.jvm.await(PodMain.READY));
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private Usage all(String command) {
    pods.forEach(pod -> pod.jvm.send(command));
    List<Usage> all = pods.stream().map(Pod::answer).toList();
    return new Usage(
        all.stream().mapToLong(Usage::statements).sum(),
        all.stream().mapToLong(Usage::cpuNanos).sum());
  }

  /** Messages are appended until {@link #halt}. */
  void load(int rate) {
    ledger.clear();
    pods.forEach(pod -> pod.load(rate));
  }

  /** Ends the load, and waits until all of it is published. */
  void halt() throws InterruptedException {
    Usage ignored = all(PodMain.HALT);
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (ledger.outstanding() > 0) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException(
            "of %s messages %s were not delivered within %s"
                .formatted(ledger.committed(), ledger.outstanding(), PATIENCE));
      }
      Thread.sleep(LOOK.toMillis());
      ignored = work();
    }
  }

  /** A load, until all of it is published. */
  Outcome run(int rate, Duration time) throws InterruptedException {
    bench.settle();
    Usage before = work();
    double serverBefore = bench.cpu.now().server();
    load(rate);
    Thread.sleep(time.toMillis());
    halt();
    Usage done = work().since(before);
    return Outcome.of(ledger, done, bench.cpu.now().server() - serverBefore);
  }

  /** What all have done so far; all that they committed and published by then is known. */
  Usage work() {
    return all(PodMain.WORK);
  }

  @Override
  public void close() {
    pods.forEach(pod -> pod.jvm.close());
  }
}
