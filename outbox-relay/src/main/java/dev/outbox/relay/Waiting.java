package dev.outbox.relay;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Where workers wait, and what ends the wait: work that was found, messages that are announced in
 * this process, or the relay's stop. Of the workers without work one polls, and the others wait for
 * their turn; docs/design/relay.md says when it polls. So what an idle relay asks of the store does
 * not depend on their number.
 */
final class Waiting {
  private static final long EXPECTED_FOR = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long QUICK_PAUSE = TimeUnit.MICROSECONDS.toNanos(750);

  /** How much longer than its pause a poller may be away. */
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
  private final Condition announcement = lock.newCondition();
  private final Condition stop = lock.newCondition();

  /** How many messages were announced and not found. A hint: another relay may take them. */
  private final AtomicInteger expected = new AtomicInteger();

  /** How often something was announced: a claim that began before may have missed it. */
  private final AtomicInteger announcements = new AtomicInteger();

  private volatile long expectedUntil;
  private volatile long quickUntil;

  /** Whether {@link #wake} was called since the last look. */
  private volatile boolean told;

  /** Whether other processes have announced some since a poll found what nobody had told of. */
  private volatile boolean othersAnnounce;

  /** Whether the poller waits, and {@link #wake} has to end that. */
  private volatile boolean napping;

  private volatile boolean stopping;
  private volatile long stopBy;
  private @Nullable Object poller;
  private long pollerBackBy;

  /** Whether the last look was made because of such a call. */
  private boolean wasTold;

  private long quickPause = QUICK_PAUSE;

  Waiting(Duration stopTimeout, Pauses pauses, LongSupplier clock) {
    this.stopTimeout = stopTimeout.toNanos();
    this.pauses = pauses;
    this.clock = clock;
    expectedUntil = clock.getAsLong();
    quickUntil = expectedUntil;
  }

  /** So many messages will be found without polls that look for them. */
  void expect(int messages) {
    int ignored = expected.addAndGet(messages);
    expectedUntil = clock.getAsLong() + EXPECTED_FOR;
  }

  /** So many of them are found by others. */
  void expectLess(int messages) {
    int ignored = expected.updateAndGet(before -> Math.max(0, before - messages));
  }

  /** Messages were committed that claims find unless another one has their key for a moment. */
  void committed() {
    quickUntil = clock.getAsLong() + EXPECTED_FOR;
    announced();
  }

  /** Messages were committed: a claim finds them, unless a worker has their key. */
  void announced() {
    int ignored = announcements.incrementAndGet();
    wake();
  }

  int announcements() {
    return announcements.get();
  }

  /** As {@link #wake}: another process has committed messages, or had their keys. */
  void announcedByOthers() {
    othersAnnounce = true;
    wake();
  }

  /** There is something for whoever claims next. */
  void wake() {
    told = true;
    if (napping) {
      lock.lock();
      try {
        announcement.signal();
      } finally {
        lock.unlock();
      }
    }
  }

  /**
   * The first call counts.
   *
   * @param took so much of the time to stop is over
   */
  void stop(Duration took) {
    lock.lock();
    try {
      if (!stopping) {
        stopBy = clock.getAsLong() + stopTimeout - took.toNanos();
        stopping = true;
        turn.signalAll();
        announcement.signalAll();
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

  /**
   * This worker found messages, and will not poll until it is done with them. What nobody has told
   * of makes pauses small. But where others announce, a poll may only have been quicker, and the
   * smaller the pauses are, the more often it is: so there the first such find does not count.
   */
  void working(Object worker, int messages) {
    lock.lock();
    try {
      boolean wereExpected = expected.get() > 0;
      expectLess(messages);
      if (!wereExpected && !wasTold && !told) {
        if (!othersAnnounce) {
          pauses.worked();
        }
        othersAnnounce = false;
      }
      handOver(worker);
    } finally {
      lock.unlock();
    }
  }

  /** Messages will be due again, and nobody announces that. */
  void expectRetries() {
    lock.lock();
    try {
      pauses.worked();
    } finally {
      lock.unlock();
    }
  }

  /**
   * This worker found nothing to do: waits until it is its turn to poll, and time. Not when
   * something was announced since its claim began: while it had a key, the claims of others missed
   * what came to that key.
   *
   * @param announced how often something had been announced before its claim
   */
  void idle(Object worker, int announced) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      if (announcements.get() != announced) {
        looks();
        return;
      }
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
    try {
      napping = true; // before it is asked what was told: who tells sees this, or we see that
      if (!told) {
        long nanos = isExpecting() ? quickly() : pauses.next();
        pollerBackBy = clock.getAsLong() + nanos + GRACE;
        await(announcement, nanos);
      }
    } finally {
      napping = false;
      looks();
    }
  }

  /** What was told until now is found by the claim that comes next. */
  private void looks() {
    wasTold = told;
    told = false;
    if (wasTold) {
      quickPause = QUICK_PAUSE;
    }
  }

  /** Whether messages that were announced are still to be found. */
  private boolean isExpecting() {
    long now = clock.getAsLong();
    if (expectedUntil - now > 0) {
      return expected.get() > 0 && quickUntil - now > 0;
    }
    if (expected.getAndSet(0) > 0) {
      pauses.expectWork();
    }
    return false;
  }

  private long quickly() {
    long pause = quickPause;
    quickPause = Math.min(pause + pause / 2, Pauses.LIVELY.toNanos());
    return pause;
  }

  /** Waits because something is wrong; nothing that is told ends it, and others may poll. */
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
