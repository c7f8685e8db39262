package dev.outbox.dev.demo;

import dev.outbox.cli.Failure;
import dev.outbox.dev.broker.Broker;
import dev.outbox.embedded.ChildJvm;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.DoubleConsumer;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What goes wrong on purpose, on a thread of its own: kills, a newcomer, an outage. The order
 * service waits for them where it would be done before, so that each of them meets messages. The
 * last fifth of the transactions is left to quiet times.
 */
final class Incidents {
  private final Broker broker;
  private final ChildJvm victim;
  private final Supplier<ChildJvm> start;
  private final ShippingProcess shipping;
  private final DoubleSupplier done;
  private final DoubleConsumer allow;
  private final Progress progress;
  private final SplittableRandom random;
  private final CompletableFuture<ChildJvm> newcomer = new CompletableFuture<>();
  private final Thread thread = new Thread(this::run, "incidents");
  private volatile @Nullable Throwable failure;

  /**
   * @param start starts the newcomer
   * @param done which part of the transactions was committed, 0 to 1
   * @param allow is told which part may be committed for now
   */
  Incidents(
      Broker broker,
      ChildJvm victim,
      Supplier<ChildJvm> start,
      ShippingProcess shipping,
      DoubleSupplier done,
      DoubleConsumer allow,
      Progress progress,
      DemoSettings settings) {
    this.broker = broker;
    this.victim = victim;
    this.start = start;
    this.shipping = shipping;
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
  ChildJvm newcomer() {
    return newcomer.join();
  }

  private void run() {
    try {
      allow.accept(0.48);
      await(0.08, 0.16);
      killConsumer();

      await(0.2, 0.32);
      victim.close();
      progress.event("relay A was killed (SIGKILL)");

      await(0.36, 0.44);
      ChildJvm started = start.get();
      newcomer.complete(started);
      started.await(DemoRelay.STARTED);
      progress.event("relay C was started");

      allow.accept(0.64);
      await(0.48, 0.6);
      if (broker.canStop()) {
        outage(Duration.ofMillis(random.nextInt(2_000, 4_000)));
      } else {
        progress.event("the broker is yours: it is not stopped");
        allow.accept(0.8);
      }
      killConsumer();
    } catch (RuntimeException | InterruptedException e) {
      failure = e;
    }
  }

  private void killConsumer() {
    shipping.kill();
    progress.event("the consumer was killed (SIGKILL), another one goes on");
  }

  private void outage(Duration length) throws InterruptedException {
    broker.stop();
    progress.event("the broker was stopped");
    allow.accept(0.8);
    Thread.sleep(length.toMillis());
    broker.restart();
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
