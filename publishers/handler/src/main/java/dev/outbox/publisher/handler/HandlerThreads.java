package dev.outbox.publisher.handler;

import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A handler with threads of its own, so that one that hangs slows no other (P3). Safe for use by
 * many threads.
 */
final class HandlerThreads {
  private static final Duration IDLE = Duration.ofSeconds(10);

  private final String name;
  private final MessageHandler handler;
  private final Failures failures;
  private final Timing timing;
  private final ThreadPoolExecutor threads;
  private volatile boolean slow;
  private volatile long moved = System.nanoTime();

  /**
   * @param name for people, and as the destination of what waits for it
   */
  HandlerThreads(
      String name,
      MessageHandler handler,
      Failures failures,
      Timing timing,
      int concurrency,
      ThreadFactory factory) {
    this.name = name;
    this.handler = handler;
    this.failures = failures;
    this.timing = timing;
    threads =
        new ThreadPoolExecutor(
            concurrency,
            concurrency,
            IDLE.toNanos(),
            TimeUnit.NANOSECONDS,
            new LinkedBlockingQueue<>(),
            factory);
    threads.allowCoreThreadTimeOut(true);
  }

  String name() {
    return name;
  }

  Timing timing() {
    return timing;
  }

  void execute(Handling handling) {
    threads.execute(handling);
  }

  /** Takes it out of the queue; returns false when it has begun, or was not there. */
  boolean remove(Handling handling) {
    return threads.remove(handling);
  }

  /** Calls the handler, whatever it throws. */
  Result handle(StoredMessage message) {
    long began = System.nanoTime();
    try {
      handler.handle(message);
      return Result.delivered();
    } catch (Throwable e) { // also errors: one message must not end the others
      return failures.result(name, e);
    } finally {
      long now = System.nanoTime();
      moved = now;
      slow = now - began > timing.patience().toNanos();
    }
  }

  /** When a run of the handler ended last. */
  long moved() {
    return moved;
  }

  /** How long a call waits for it. */
  Duration patience() {
    return slow ? Timing.IMPATIENCE : timing.patience();
  }

  /** No call waits for a run any more: it takes too long. */
  void left() {
    slow = true;
  }

  /** For a message that has not begun, because there was no thread for it. */
  Result isFull() {
    return busy("%s: all of its %s threads are in use".formatted(name, threads.getCorePoolSize()));
  }

  /** For a message that has not begun, because the call's time went by. */
  Result noTime() {
    return busy(
        "not begun, because the call's time went by with the messages before it: give the relay a smaller batchSize, or the publisher more concurrency");
  }

  /** Its messages wait for longer and longer only when none of its runs has ended for long. */
  private Result busy(String why) {
    boolean moves = System.nanoTime() - moved < timing.handler().toNanos();
    return new Result.Unavailable(why, name, moves ? timing.patience() : null);
  }

  void close() {
    threads.shutdown();
  }

  boolean awaitEnd(long nanos) throws InterruptedException {
    return threads.awaitTermination(nanos, TimeUnit.NANOSECONDS);
  }
}
