package dev.outbox.cli;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What has to be done at the end, however it comes: on {@link #close}, or when the JVM is ended by
 * Ctrl-C or a signal. Done once.
 */
public final class Cleanup implements AutoCloseable {
  private static volatile boolean interrupted;

  private final Runnable work;
  private final AtomicBoolean done = new AtomicBoolean();
  private final Thread hook;

  private Cleanup(Runnable work) {
    this.work = work;
    hook =
        new Thread(
            () -> {
              interrupted = true;
              runOnce();
            },
            "outbox-cleanup");
  }

  public static Cleanup atEnd(Runnable work) {
    Cleanup cleanup = new Cleanup(work);
    Runtime.getRuntime().addShutdownHook(cleanup.hook);
    return cleanup;
  }

  /**
   * Does something for whose end the end of the JVM waits, when a signal comes, so many seconds.
   */
  static void finishing(int patienceSeconds, Runnable work) {
    CompletableFuture<Boolean> ended = new CompletableFuture<>();
    Runnable await = () -> ended.completeOnTimeout(false, patienceSeconds, TimeUnit.SECONDS).join();
    try (Cleanup ignored = atEnd(await)) {
      try {
        work.run();
      } finally {
        ended.complete(true);
      }
    }
  }

  /** True when the JVM is being ended from outside: failures from then on are of no interest. */
  public static boolean interrupted() {
    return interrupted;
  }

  @Override
  public void close() {
    runOnce();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // the JVM is ending: the hook finds nothing to do
    }
  }

  private void runOnce() {
    if (done.compareAndSet(false, true)) {
      work.run();
    }
  }
}
