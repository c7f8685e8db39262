package dev.outbox.relay;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The relay's circuit breaker on a broker that cannot be reached. While it is open nobody claims;
 * then one worker at a time tries with few messages, more each time, until something is delivered
 * or a whole batch was no trouble. What the broker as a whole could not take gets no decision, and
 * so nothing is written to it. Only what a test tried in vain is set aside for the length of a
 * pause, without counting, because the publisher may be wrong about the broker:
 * docs/design/relay.md.
 */
final class Breaker {
  static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

  /** A worker without admission asks again after this long, in case the tests bring nothing. */
  private static final long ASK_AGAIN = Duration.ofMillis(50).toNanos();

  private static final int GROWTH = 4;

  /** The most messages of a test after one that failed, and so that are set aside at once. */
  static final int MOST_SET_ASIDE = 100;

  private final String relay;
  private final int batchSize;
  private final Backoff pauses;
  private final RelayListener listener;
  private final ReentrantLock telling = new ReentrantLock();
  private volatile boolean closed = true;
  private boolean testing;
  private int testSize;
  private long openUntil;

  /** Why it was opened. */
  private String trouble = "";

  /** What the listener knows. */
  private volatile boolean toldClosed = true;

  Breaker(String relay, int batchSize, DoubleSupplier random, RelayListener listener) {
    this.relay = relay;
    this.batchSize = batchSize;
    this.pauses = new Backoff(FIRST_PAUSE, LONGEST_PAUSE, random);
    this.listener = listener;
  }

  /**
   * Leave to claim; returned by {@link #done}.
   *
   * @param most messages; 0 when the worker must not claim now but ask again
   * @param askAgain after so many nanoseconds
   * @param aside for so many nanoseconds a test sets aside what it tried in vain
   */
  record Admission(int most, boolean test, long askAgain, long aside) {}

  boolean closed() {
    return closed;
  }

  Admission admit(long now) {
    return closed ? new Admission(batchSize, false, 0, 0) : admitToTest(now);
  }

  private synchronized Admission admitToTest(long now) {
    if (closed) {
      return new Admission(batchSize, false, 0, 0);
    }
    if (openUntil - now > 0 || testing) {
      return new Admission(0, false, testing ? ASK_AGAIN : openUntil - now, 0);
    }
    testing = true;
    return new Admission(testSize, true, 0, pauses.most());
  }

  /**
   * Ends an admission.
   *
   * @param batch null when nothing was claimed
   */
  void done(Admission admission, @Nullable Batch batch, long now) {
    String error = batch == null ? null : batch.brokerError();
    if (closed && error == null) {
      return;
    }
    synchronized (this) {
      boolean was = closed;
      testing &= !admission.test();
      if (admission.test() && batch != null) {
        tested(batch);
      }
      if (error != null && (was || admission.test())) {
        trouble = error;
        testSize = was ? 1 : Math.min(Math.min(batchSize, MOST_SET_ASIDE), testSize * GROWTH);
        openUntil = now + pauses.next();
        closed = false;
      }
    }
    tell();
  }

  /** One worker at a time, so that the last thing that a slow listener is told is how it is. */
  private void tell() {
    while (closed != toldClosed && telling.tryLock()) { // or else who is telling goes on
      try {
        boolean is = closed;
        if (is != toldClosed) {
          toldClosed = is;
          listener.on(
              is
                  ? new RelayEvent.BreakerClosed(relay)
                  : new RelayEvent.BreakerOpened(relay, trouble));
        }
      } finally {
        telling.unlock();
      }
    }
  }

  private void tested(Batch batch) {
    if (batch.delivered()) {
      pauses.reset();
    }
    boolean saidNothing = batch.postponed() || batch.publishable().isEmpty();
    if ((batch.answered() || saidNothing) && batch.brokerError() == null) {
      closed = batch.delivered() || (batch.answered() && testSize >= batchSize);
      testSize = (int) Math.min(batchSize, (long) testSize * GROWTH);
    }
    if (closed) {
      pauses.reset();
    }
  }
}
