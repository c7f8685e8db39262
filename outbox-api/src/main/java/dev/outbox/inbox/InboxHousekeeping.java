package dev.outbox.inbox;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.function.Consumer;

/**
 * Purges an inbox about each minute, in a thread of its own, until it is closed. One in any process
 * is enough; any number may run. An exception does not end it, as it would end a task of a {@code
 * ScheduledExecutorService}. An {@link Error} does, and goes to the thread's handler of uncaught
 * exceptions.
 *
 * <pre>{@code
 * InboxHousekeeping housekeeping =
 *     InboxHousekeeping.start(inbox::housekeep, e -> log.warn("The inbox was not purged", e));
 * }</pre>
 */
public final class InboxHousekeeping implements AutoCloseable {

  /** Between the end of one round and the begin of the next. */
  public static final Duration PAUSE = Duration.ofMinutes(1);

  /** How long {@link #close} waits. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final Runnable housekeep;
  private final Consumer<? super RuntimeException> failed;
  private final long pauseMillis;
  private final Thread thread;
  private volatile boolean closed;

  private InboxHousekeeping(
      Runnable housekeep, Consumer<? super RuntimeException> failed, Duration pause) {
    this.housekeep = requireNonNull(housekeep, "housekeep");
    this.failed = requireNonNull(failed, "failed");
    pauseMillis = pause.toMillis();
    thread = new Thread(this::run, "outbox-inbox-housekeeping");
    thread.setDaemon(true);
  }

  /**
   * Begins at once. The thread is a daemon: it does not keep a JVM alive.
   *
   * @param housekeep the store's {@code housekeep}
   * @param failed is told what a round threw, in that thread; the next round comes in any case
   */
  public static InboxHousekeeping start(
      Runnable housekeep, Consumer<? super RuntimeException> failed) {
    return start(housekeep, failed, PAUSE);
  }

  /** For tests: with another pause. */
  static InboxHousekeeping start(
      Runnable housekeep, Consumer<? super RuntimeException> failed, Duration pause) {
    InboxHousekeeping housekeeping = new InboxHousekeeping(housekeep, failed, pause);
    housekeeping.thread.start();
    return housekeeping;
  }

  private void run() {
    while (!closed) {
      try {
        housekeep.run();
      } catch (RuntimeException e) {
        if (!closed) { // which interrupts it
          tell(e);
        }
      }
      if (closed) { // the round may have swallowed the interrupt
        return;
      }
      try {
        Thread.sleep(pauseMillis);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void tell(RuntimeException e) {
    try {
      failed.accept(e);
    } catch (RuntimeException ignored) {
      // Who is told may fail, and the inbox has to be purged all the same.
    }
  }

  /** Interrupts the round that runs, and waits up to 5 seconds for its end. */
  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    try {
      thread.join(PATIENCE.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
