package dev.outbox.relay;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Where workers wait, and what ends the wait: an append in this process, or the relay's stop.
 *
 * <p>An append happens before its commit, and nobody says when that is. So after one, one waiting
 * worker polls each millisecond for a moment; the others only when they would have anyway.
 */
final class Waiting {
  private static final long QUICK_FOR = Duration.ofMillis(50).toNanos();
  private static final long QUICK_PAUSE = Duration.ofMillis(1).toNanos();

  /** This part of the time to stop is kept for settling. */
  private static final int SETTLE_PART = 4;

  private static final long LOOK_UP = Duration.ofMillis(100).toNanos();
  private static final int LOOK_UP_PART = 8;

  private final long stopTimeout;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition work = lock.newCondition();
  private final Condition stop = lock.newCondition();
  private volatile long quickUntil = System.nanoTime();
  private volatile boolean watched;
  private volatile boolean stopping;
  private volatile long stopBy;

  Waiting(Duration stopTimeout) {
    this.stopTimeout = stopTimeout.toNanos();
  }

  /** Cheap when a worker polls quickly already. */
  void appended() {
    quickUntil = System.nanoTime() + QUICK_FOR;
    if (!watched) {
      lock.lock();
      try {
        work.signal();
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
        stopBy = System.nanoTime() + stopTimeout;
        stopping = true;
        work.signalAll();
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
    return stopBy - System.nanoTime();
  }

  /** What is left of the time to stop for publishing. */
  long leftToPublish() {
    return leftToStop() - stopTimeout / SETTLE_PART;
  }

  /** How long a stop may go unnoticed while a publisher works, in nanoseconds. */
  long lookUp() {
    return Math.min(LOOK_UP, stopTimeout / LOOK_UP_PART);
  }

  /** Waits because there was nothing to do. */
  void idle(Backoff pauses) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      if (stopping) {
        return;
      }
      if (watched || quickUntil - System.nanoTime() <= 0) {
        await(work, pauses.next());
        return;
      }
      watched = true;
      pauses.reset();
      try {
        await(work, QUICK_PAUSE);
      } finally {
        watched = false;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits because something is wrong; an append does not end it. */
  void pause(long nanos) throws InterruptedException {
    long until = System.nanoTime() + nanos;
    lock.lockInterruptibly();
    try {
      for (long left = nanos; left > 0 && !stopping; left = until - System.nanoTime()) {
        await(stop, left);
      }
    } finally {
      lock.unlock();
    }
  }

  /** May return early, as conditions do: callers look again. */
  @SuppressWarnings("WaitNotInLoop")
  private static void await(Condition condition, long nanos) throws InterruptedException {
    long ignored = condition.awaitNanos(nanos);
  }
}
