package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Pod.Usage;
import dev.outbox.dev.common.Ledger;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** The pods of one service, with the same number of relays and clients each. */
final class Fleet implements AutoCloseable {
  private static final int KEYS = 1_000;

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
    this.pods = Stream.generate(this::start).limit(pods).toArray(Pod[]::new);
    pods().forEach(Pod::awaitReady);
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

  private Usage all(String command) {
    pods().forEach(pod -> pod.send(command));
    return pods().stream().map(Pod::answer).reduce(Usage.NOTHING, Usage::plus);
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
    Usage ignored = pods[pod].answer();
  }

  /** Ends the load; all that was committed is known then. */
  void halt() {
    Usage ignored = all(PodMain.HALT);
  }

  /** A load, until all of it is published. */
  OpenLoad run(int rate, Duration time) throws Exception {
    return OpenLoad.measure(
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
  Usage work() {
    return all(PodMain.WORK);
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
