package dev.outbox.tck.internal;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * When a wait is in vain. Time in which this process stood still does not count, because whoever is
 * waited for mostly stood still, too: a host that is overloaded or suspended would otherwise fail a
 * store that did nothing wrong. It is seen by pauses that take longer than they were asked to; so
 * much of it is left out of account that a wait takes {@link #LONGEST} times its time at most.
 */
public final class Deadline {
  private static final long SLICE = TimeUnit.MILLISECONDS.toNanos(50);

  /** A pause is late by less when all is well. */
  private static final long LATE = TimeUnit.MILLISECONDS.toNanos(50);

  private static final int LONGEST = 4;

  private final long latest;
  private long end;

  public Deadline(Duration time) {
    long now = System.nanoTime();
    end = now + time.toNanos();
    latest = now + LONGEST * time.toNanos();
  }

  public boolean isOver() {
    return System.nanoTime() - end > 0;
  }

  /** A pause between two looks at what is waited for. */
  public void pause(Duration time) {
    long begin = System.nanoTime();
    try {
      TimeUnit.NANOSECONDS.sleep(time.toNanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
    addStandstill(begin, time.toNanos());
  }

  public <R> R get(Future<R> future) throws ExecutionException, TimeoutException {
    while (true) {
      long begin = System.nanoTime();
      long slice = Math.max(1, Math.min(SLICE, end - begin));
      try {
        return future.get(slice, TimeUnit.NANOSECONDS);
      } catch (TimeoutException e) {
        addStandstill(begin, slice);
        if (isOver()) {
          throw e;
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError("interrupted", e);
      }
    }
  }

  private void addStandstill(long begin, long asked) {
    long late = System.nanoTime() - begin - asked;
    if (late > LATE) {
      end += Math.min(late, latest - end);
    }
  }
}
