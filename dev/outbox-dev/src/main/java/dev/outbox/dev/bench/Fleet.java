package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchClient.Woken;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Pod.Usage;
import dev.outbox.dev.broker.KafkaBroker;
import dev.outbox.dev.common.Ledger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The pods of one service. */
final class Fleet implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final Duration LOOK = Duration.ofMillis(50);

  private final Bench bench;
  private final List<Shape> shapes;
  private final int keys;
  private final Woken woken;
  private final @Nullable KafkaBroker topic;
  private final Ledger<Pod> ledger = new Ledger<>();
  private final List<Pod> pods = new ArrayList<>();

  /** How many relays a pod has, and how many clients that append. */
  record Shape(int relays, int clients) {}

  /**
   * Empties the outbox; ready when it returns.
   *
   * @param keys of messages
   * @param woken how the first relay of a pod hears of commits there
   * @param topic where relays publish to; null: nowhere, as fast as can be
   */
  Fleet(Bench bench, List<Shape> shapes, int keys, Woken woken, @Nullable KafkaBroker topic) {
    this.bench = bench;
    this.shapes = shapes;
    this.keys = keys;
    this.woken = woken;
    this.topic = topic;
    bench.database().empty(Side.OURS);
    try {
      shapes.forEach(shape -> pods.add(start(shape)));
      pods.forEach(Pod::awaitReady);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private Pod start(Shape shape) {
    return new Pod(bench.database(), shape, woken, topic, ledger);
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
    int first = clients(shapes.subList(0, place));
    pod.send("%s %s %s %s %s".formatted(PodMain.LOAD, keys, rate, first, clients(shapes)));
    Usage ignored = pod.answer();
  }

  private static int clients(List<Shape> shapes) {
    return shapes.stream().mapToInt(Shape::clients).sum();
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
  OpenLoad run(int rate, Duration time) throws InterruptedException {
    bench.settle();
    Usage before = work();
    double serverBefore = bench.cpu().now().server();
    load(rate);
    Thread.sleep(time.toMillis());
    halt();
    Usage done = work().since(before);
    return OpenLoad.of(ledger, done, bench.cpu().now().server() - serverBefore);
  }

  /** What all have done so far; all that they committed and published by then is known. */
  Usage work() {
    return all(PodMain.WORK);
  }

  /** A new pod takes the place of one that has ended, and its part of the load. */
  void replace(Pod ended, int rate) {
    int place = pods.indexOf(ended);
    Pod started = start(shapes.get(place));
    pods.set(place, started);
    started.awaitReady();
    load(place, rate);
  }

  @Override
  public void close() {
    pods.forEach(Pod::close);
  }
}
