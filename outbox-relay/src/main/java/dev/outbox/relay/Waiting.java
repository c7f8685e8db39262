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
 * this process, or the relay's stop.
 *
 * <p>Of the workers without work one polls, and the others wait: so what an idle relay asks of the
 * store does not depend on their number. Whoever finds work while polling hands the turn to one
 * that waits, and does the work. A poller that does not come back, because the store does not
 * answer it, loses its turn.
 *
 * <p>An append happens before its commit, and nobody says when the commit is. So after an append
 * the poller polls quickly, at first after {@value #QUICK_MICROS} microseconds, until as many
 * messages were found as were announced, or for {@value #EXPECTED_MILLIS} ms. It polls once more in
 * any case, because a poll may miss what was appended while it ran. After a commit it polls at
 * once; quickly after that only where the claim of another relay may have kept the messages from
 * it. Announced messages do not change how often it polls for others: where all is announced, it
 * polls as if there were no work.
 */
final class Waiting {
  private static final long EXPECTED_MILLIS = 50;
  private static final long QUICK_MICROS = 500;
  private static final long EXPECTED_FOR = TimeUnit.MILLISECONDS.toNanos(EXPECTED_MILLIS);
  private static final long QUICK_PAUSE = TimeUnit.MICROSECONDS.toNanos(QUICK_MICROS);

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
  private volatile boolean committed;
  private volatile Nap nap = Nap.NONE;
  private volatile boolean stopping;
  private volatile long stopBy;
  private @Nullable Object poller;
  private long pollerBackBy;

  /** How often something had been announced at the last look. */
  private int looked;

  /** Whether that look was made because something was committed. */
  private boolean wasTold;

  private long quickPause = QUICK_PAUSE;

  /**
   * How the poller waits: a short nap ends when something is committed, a long one by appends too.
   */
  private enum Nap {
    NONE,
    SHORT,
    LONG
  }

  /**
   * @param clock as {@link System#nanoTime}
   */
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

  /** Messages were appended, and will be committed. Cheap while the poller polls quickly. */
  void appended(int messages) {
    expect(messages);
    quickUntil = expectedUntil;
    int ignored = announcements.incrementAndGet();
    if (nap == Nap.LONG) {
      wakePoller();
    }
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

  /** How often something was announced. */
  int announcements() {
    return announcements.get();
  }

  /** There is something for whoever claims next. */
  void wake() {
    committed = true;
    if (nap != Nap.NONE) {
      wakePoller();
    }
  }

  private void wakePoller() {
    lock.lock();
    try {
      announcement.signal();
    } finally {
      lock.unlock();
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

  /** This worker found messages, and will not poll until it is done with them. */
  void working(Object worker, int messages) {
    lock.lock();
    try {
      boolean wereExpected = expected.get() > 0;
      expectLess(messages);
      if (!wereExpected && !wasTold && !committed) {
        pauses.worked();
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
        quickPause = QUICK_PAUSE;
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
      nap = Nap.LONG; // before the look at what was announced: an append sees this, or we see it
      if (!isAnnounced()) {
        nap(isExpecting() ? quickly() : pauses.next());
      }
      if (isAnnounced()) {
        quickPause = QUICK_PAUSE;
        nap = Nap.SHORT;
        if (!committed) {
          nap(quickPause);
        }
      }
    } finally {
      nap = Nap.NONE;
      looks();
    }
  }

  /** What was announced until now is found by the claim that comes next. */
  private void looks() {
    wasTold = committed;
    committed = false;
    looked = announcements.get();
  }

  /** Whether messages were announced since the last look. */
  private boolean isAnnounced() {
    return committed || announcements.get() != looked;
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
    quickPause = Math.min(quickPause + quickPause / 2, Pauses.LIVELY.toNanos());
    return quickPause;
  }

  private void nap(long nanos) throws InterruptedException {
    pollerBackBy = clock.getAsLong() + nanos + GRACE;
    await(announcement, nanos);
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
