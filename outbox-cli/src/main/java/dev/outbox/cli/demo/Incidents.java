package dev.outbox.cli.demo;

import dev.outbox.cli.Failure;
import dev.outbox.cli.demo.Oracle.Disturbance;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.DoubleConsumer;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What goes wrong on purpose, on a thread of its own: a kill, a newcomer, an outage. The order
 * service waits for them where it would be done before, so that each of them meets messages.
 */
final class Incidents {
  private final DemoServers servers;
  private final RelayChild victim;
  private final Supplier<RelayChild> start;
  private final Duration lease;
  private final DoubleSupplier done;
  private final DoubleConsumer allow;
  private final Progress progress;
  private final SplittableRandom random;
  private final List<Disturbance> disturbances = new CopyOnWriteArrayList<>();
  private final CompletableFuture<RelayChild> newcomer = new CompletableFuture<>();
  private final Thread thread = new Thread(this::run, "incidents");
  private volatile @Nullable Throwable failure;

  /**
   * @param lease how long the victim's messages wait
   * @param start starts the newcomer
   * @param done which part of the transactions was committed, 0 to 1
   * @param allow is told which part may be committed for now
   */
  Incidents(
      DemoServers servers,
      RelayChild victim,
      Supplier<RelayChild> start,
      Duration lease,
      DoubleSupplier done,
      DoubleConsumer allow,
      Progress progress,
      DemoSettings settings) {
    this.servers = servers;
    this.victim = victim;
    this.start = start;
    this.lease = lease;
    this.done = done;
    this.allow = allow;
    this.progress = progress;
    random = new SplittableRandom(settings.seed());
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /**
   * True when all of them have happened.
   *
   * @throws Failure when one could not
   */
  boolean over() {
    Throwable e = failure;
    if (e != null) {
      throw new Failure("an incident failed: " + e.getMessage(), e);
    }
    return !thread.isAlive();
  }

  /** The relay that was started; once all is over. */
  RelayChild newcomer() {
    return newcomer.join();
  }

  /** When deliveries were held up. */
  List<Disturbance> disturbances() {
    return disturbances;
  }

  private void run() {
    try {
      allow.accept(0.6);
      await(0.25, 0.4);
      victim.kill();
      long killed = System.nanoTime();
      disturbances.add(new Disturbance(killed, killed + lease.toNanos()));
      progress.event("relay A was killed (SIGKILL)");

      await(0.45, 0.55);
      RelayChild started = start.get();
      newcomer.complete(started);
      started.awaitStarted();
      progress.event("relay C was started");

      allow.accept(0.8);
      await(0.6, 0.75);
      if (servers.canStopBroker()) {
        outage(Duration.ofMillis(random.nextInt(2_000, 4_000)));
      } else {
        progress.event("the broker is yours: it is not stopped");
        allow.accept(1);
      }
    } catch (RuntimeException | InterruptedException e) {
      failure = e;
    }
  }

  private void outage(Duration length) throws InterruptedException {
    long begin = System.nanoTime();
    servers.stopBroker();
    progress.event("the broker was stopped");
    allow.accept(1);
    Thread.sleep(length.toMillis());
    servers.restartBroker();
    long end = System.nanoTime();
    disturbances.add(new Disturbance(begin, end));
    progress.event("the broker is back");
  }

  /** Until a part of the work is done that lies between these by chance. */
  private void await(double least, double most) throws InterruptedException {
    double part = random.nextDouble(least, most);
    while (done.getAsDouble() < part) {
      Thread.sleep(20);
    }
  }
}
