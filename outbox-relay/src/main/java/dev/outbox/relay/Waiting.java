package dev.outbox.relay;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Where workers wait, and what ends the wait: work that was found, an append in this process, or
 * the relay's stop.
 *
 * <p>Of the workers without work one polls, and the others wait: so what an idle relay asks of the
 * store does not depend on their number. Whoever finds work while polling hands the turn to one
 * that waits, and does the work. A poller that does not come back, because the store does not
 * answer it, loses its turn.
 *
 * <p>An append happens before its commit, and nobody says when that is. So after one, the poller
 * polls quickly for a moment, and once in any case: what was appended while it polled, it may not
 * have seen, however long the poll took.
 */
final class Waiting {
  private static final long QUICK_FOR = Duration.ofMillis(50).toNanos();
  private static final long QUICK_PAUSE = TimeUnit.MICROSECONDS.toNanos(500);

  /** So much longer than its pause a poller may be away. */
  private static final long GRACE = Duration.ofSeconds(1).toNanos();

  /** This part of the time to stop is kept for settling. */
  private static final int SETTLE_PART = 4;

  private static final long LOOK_UP = Duration.ofMillis(100).toNanos();
  private static final int LOOK_UP_PART = 8;

  private final long stopTimeout;
  private final Pauses pauses;
  private final LongSupplier clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition turn = lock.newCondition();
  private final Condition appended = lock.newCondition();
  private final Condition stop = lock.newCondition();
  private volatile long quickUntil;
  private volatile boolean napping;
  private volatile boolean stopping;
  private volatile long stopBy;
  private @Nullable Object poller;
  private long pollerBackBy;

  /** What {@link #quickUntil} was when a poller looked last. */
  private long looked;

  /**
   * @param clock as {@link System#nanoTime}
   */
  Waiting(Duration stopTimeout, Pauses pauses, LongSupplier clock) {
    this.stopTimeout = stopTimeout.toNanos();
    this.pauses = pauses;
    this.clock = clock;
    quickUntil = clock.getAsLong();
    looked = quickUntil;
  }

  /** Cheap while the poller polls quickly. */
  void appended() {
    quickUntil = clock.getAsLong() + QUICK_FOR;
    if (napping) {
      lock.lock();
      try {
        appended.signal();
      } finally {
        lock.unlock();
      }
    }
  }

  /** The first call counts. */
  void stop() {
    lock.lock();
    try {
      if (!stopping) {
        stopBy = clock.getAsLong() + stopTimeout;
        stopping = true;
        turn.signalAll();
        appended.signalAll();
        stop.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  boolean stopping() {
    return stopping;
  }

  /** What is left of the time to stop, in nanoseconds; only after {@link #stop}. */
  long leftToStop() {
    return stopBy - clock.getAsLong();
  }

  /** What is left of the time to stop for publishing. */
  long leftToPublish() {
    return leftToStop() - stopTimeout / SETTLE_PART;
  }

  /** How long a stop may go unnoticed while a publisher works, in nanoseconds. */
  long lookUp() {
    return Math.min(LOOK_UP, stopTimeout / LOOK_UP_PART);
  }

  /** This worker found work, and will not poll until it is done. */
  void working(Object worker) {
    lock.lock();
    try {
      pauses.worked();
      handOver(worker);
    } finally {
      lock.unlock();
    }
  }

  /** This worker found nothing to do: waits until it is its turn to poll, and time. */
  void idle(Object worker) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!stopping && poller != null && poller != worker) {
        long left = pollerBackBy - clock.getAsLong();
        if (left <= 0) {
          break;
        }
        await(turn, left);
      }
      if (!stopping) {
        poller = worker;
        pause();
      }
    } finally {
      lock.unlock();
    }
  }

  private void pause() throws InterruptedException {
    napping = true; // before the look at quickUntil: an append sees this, or we see the append
    try {
      long nanos;
      long until = quickUntil;
      boolean appendedSince = until != looked;
      looked = until;
      if (appendedSince || until - clock.getAsLong() > 0) {
        napping = false;
        nanos = QUICK_PAUSE;
        pauses.expectWork();
      } else {
        nanos = pauses.next();
      }
      pollerBackBy = clock.getAsLong() + nanos + GRACE;
      await(appended, nanos);
    } finally {
      napping = false;
    }
  }

  /** Waits because something is wrong; an append does not end it, and others may poll. */
  void pause(Object worker, long nanos) throws InterruptedException {
    long until = clock.getAsLong() + nanos;
    lock.lockInterruptibly();
    try {
      handOver(worker);
      for (long left = nanos; left > 0 && !stopping; left = until - clock.getAsLong()) {
        await(stop, left);
      }
    } finally {
      lock.unlock();
    }
  }

  private void handOver(Object worker) {
    if (poller == worker) {
      poller = null;
      turn.signal();
    }
  }

  /** May return early, as conditions do: callers look again. */
  @SuppressWarnings("WaitNotInLoop")
  private static void await(Condition condition, long nanos) throws InterruptedException {
    long ignored = condition.awaitNanos(nanos);
  }
}
