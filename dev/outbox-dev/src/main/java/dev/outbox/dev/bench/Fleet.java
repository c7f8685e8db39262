package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Pod.Usage;
import dev.outbox.dev.common.Ledger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The pods of one service, with the same number of relays and clients each. */
final class Fleet implements AutoCloseable {
  private static final int KEYS = 1_000;

  /** Of all pods together; each has one at least. */
  private static final int CLIENTS = 4;

  private final Bench bench;
  private final int relays;
  private final int clients;
  private final Ledger<Pod> ledger = new Ledger<>();
  private final List<Pod> pods = new ArrayList<>();

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
    try {
      for (int i = 0; i < pods; i++) {
        this.pods.add(start());
      }
      this.pods.forEach(Pod::awaitReady);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private Pod start() {
    return new Pod(bench.database(), relays, clients, null, ledger);
  }

  List<Pod> pods() {
    return List.copyOf(pods);
  }

  Ledger<Pod> ledger() {
    return ledger;
  }

  private Usage all(String command) {
    pods.forEach(pod -> pod.send(command));
    return pods.stream().map(Pod::answer).reduce(Usage.NOTHING, Usage::plus);
  }

  /** Messages are appended until {@link #halt}. */
  void load(int rate) {
    ledger.clear();
    for (int i = 0; i < pods.size(); i++) {
      load(i, rate);
    }
  }

  private void load(int place, int rate) {
    Pod pod = pods.get(place);
    pod.send(
        "%s %s %s %s %s"
            .formatted(PodMain.LOAD, KEYS, rate, place * clients, pods.size() * clients));
    Usage ignored = pod.answer();
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
        this::work);
  }

  /** What all have done so far; all that they committed and published by then is known. */
  Usage work() {
    return all(PodMain.WORK);
  }

  /** A new pod takes the place of one that has ended, and its part of the load. */
  void replace(Pod ended, int rate) {
    int place = pods.indexOf(ended);
    Pod started = start();
    pods.set(place, started);
    started.awaitReady();
    load(place, rate);
  }

  @Override
  public void close() {
    pods.forEach(Pod::close);
  }
}
