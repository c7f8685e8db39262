package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Pod.Work;
import dev.outbox.dev.common.Ledger;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The pods of one service, with the same number of relays and clients each. */
final class Fleet implements AutoCloseable {
  static final int KEYS = 1_000;

  /** Of all pods together; each has one at least. */
  private static final int CLIENTS = 4;

  private final Bench bench;
  private final int relays;
  private final int clients;
  private final Ledger<Pod> ledger = new Ledger<>();
  private final Pod[] pods;

  /**
   * Empties the outbox; ready when it returns.
   *
   * @param relays in each pod
   */
  Fleet(Bench bench, int pods, int relays) {
    this.bench = bench;
    this.relays = relays;
    clients = Math.max(1, CLIENTS / pods);
    bench.database().empty(Side.OURS);
    this.pods = IntStream.range(0, pods).mapToObj(i -> start()).toArray(Pod[]::new);
    List.of(this.pods).forEach(Pod::awaitReady);
  }

  private Pod start() {
    return new Pod(bench.database(), relays, clients, null, ledger);
  }

  List<Pod> pods() {
    return List.of(pods);
  }

  Ledger<Pod> ledger() {
    return ledger;
  }

  /** Has all pods do it; what they committed and published before is known then. */
  void all(String command) {
    Work ignored = ask(command);
  }

  private Work ask(String command) {
    pods().forEach(pod -> pod.send(command));
    return Stream.of(pods).map(Pod::answer).reduce(Work.nothing(), Work::plus);
  }

  /**
   * What was done so far.
   *
   * @param cpu of the server and of all pods
   * @param at of {@link System#nanoTime}
   */
  record Done(Work work, CpuClock.Time cpu, long at) {
    Done since(Done before) {
      return new Done(work.since(before.work), cpu.since(before.cpu), at - before.at);
    }
  }

  Done done() {
    Work work = work();
    double server = bench.cpu().now().server();
    return new Done(work, new CpuClock.Time(server, work.cpuNanos()), System.nanoTime());
  }

  /** Messages are appended until {@link #halt}. */
  void load(int rate) {
    ledger.clear();
    for (int i = 0; i < pods.length; i++) {
      load(i, rate);
    }
  }

  private void load(int pod, int rate) {
    pods[pod].send(
        "%s %d %d %d %d".formatted(PodMain.LOAD, KEYS, rate, pod * clients, pods.length * clients));
    Work ignored = pods[pod].answer();
  }

  /** Ends the load; all that was committed is known then. */
  void halt() {
    all(PodMain.HALT);
  }

  /** A load, until all of it is published. */
  OpenRun run(int rate, Duration time) throws Exception {
    return OpenRun.of(
        bench,
        ledger,
        () -> {
          load(rate);
          Thread.sleep(time.toMillis());
          halt();
        },
        new WorkCounter(),
        this::work);
  }

  /** What all have done so far; all that they committed and published by then is known. */
  Work work() {
    return ask(PodMain.WORK);
  }

  /** A new pod takes the place of one that has ended, and its part of the load. */
  void replace(Pod ended, int rate) {
    int place = pods().indexOf(ended);
    pods[place] = start();
    pods[place].awaitReady();
    load(place, rate);
  }

  @Override
  public void close() {
    pods().forEach(Pod::close);
  }
}
