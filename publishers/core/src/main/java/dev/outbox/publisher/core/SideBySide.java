package dev.outbox.publisher.core;

import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One call, in which one message of a key is on its way at a time, and the next one begins when it
 * was delivered (P2). Keys go side by side. Any thread tells what came of a message. The calling
 * thread only waits, and never past the call's end (P5). It does not wait long either for what
 * keeps all other results (P3): that goes on, and {@link Unanswered} keeps what comes of it.
 */
public final class SideBySide {
  private final Outcome<Run<?, ?>> outcome;
  private final CountDownLatch open;
  private final long end;

  /**
   * @param end by {@link System#nanoTime}, when the call leaves all that is open
   * @param newRun makes the run of a key
   */
  public SideBySide(
      List<StoredMessage> messages, long end, Function<SideBySide, Run<?, ?>> newRun) {
    this.end = end;
    outcome = new Outcome<>(messages, () -> newRun.apply(this));
    open = new CountDownLatch(outcome.runs().size());
  }

  /** Begins with all keys, and waits for the results: one for each message. */
  public List<Result> results() throws InterruptedException {
    boolean interrupted = true;
    try {
      outcome.runs().forEach(Run::next);
      long left = leaveLate();
      while (left > 0 && !open.await(left, TimeUnit.NANOSECONDS)) {
        left = leaveLate();
      }
      interrupted = false;
    } finally {
      if (interrupted) {
        outcome.runs().forEach(Run::withdraw);
      }
      for (Run<?, ?> run : outcome.runs()) {
        run.end(interrupted);
      }
    }
    return outcome.results();
  }

  /** Leaves those that take too long; returns how long to wait for the others before the next. */
  private long leaveLate() {
    long now = System.nanoTime();
    long next = end - now;
    for (Run<?, ?> run : outcome.runs()) {
      long patience = run.patience(now);
      if (patience <= 0) {
        run.end(false);
      }
      next = Math.min(next, Math.max(1, patience));
    }
    return next;
  }

  /**
   * The messages of one key, in order. One thread at a time has to do with it, but the calling one
   * may leave it at any time.
   *
   * @param <I> one message
   * @param <W> a message on its way
   */
  public abstract static class Run<I extends KeyRun.Item, W> extends KeyRun<I> {
    private final SideBySide call;
    private @Nullable W current;
    private boolean withdrawn;
    private boolean over;

    protected Run(SideBySide call) {
      this.call = call;
    }

    /**
     * Begins with a message; {@link #isBegun} and {@link #ended} follow.
     *
     * @return its result, where that is known at once; neither follows then
     */
    protected abstract @Nullable Result begin(I item);

    /**
     * For how long to wait yet, in nanoseconds; called with the monitor of this.
     *
     * @param current what is on its way; null: nothing
     */
    protected abstract long patience(@Nullable W current, long now);

    /** The call does not wait for a message any more; gives its result for now. */
    protected abstract Result left(I item, @Nullable W current);

    /** The call was interrupted: this must not begin any more, if it has not. */
    protected void withdraw(W current) {}

    /** The same as {@link #left} where the call was interrupted; nobody sees the result. */
    protected Result interrupted(I item, @Nullable W current) {
      return left(item, current);
    }

    /** From now on this is on its way; false when it must not be, because the run is over. */
    protected final synchronized boolean isBegun(W what) {
      current = what;
      return !over && !withdrawn;
    }

    /** Before any is ended, because the end of one may let another begin. */
    private void withdraw() {
      W last;
      synchronized (this) {
        withdrawn = true;
        last = current;
      }
      if (last != null) {
        withdraw(last);
      }
    }

    /** Takes the result of the message on its way, and goes on with the next one. */
    protected final void ended(Result result) {
      if (took(result)) {
        next();
      }
    }

    private void next() {
      for (I item = first(); item != null; item = first()) {
        Result known = begin(item);
        if (known == null) {
          return;
        }
        boolean ignored = took(known);
      }
    }

    private synchronized @Nullable I first() {
      if (!over && !isOpen()) {
        over = true;
        call.open.countDown();
      }
      return over ? null : item(delivered());
    }

    /** Returns whether the next message may begin. */
    private synchronized boolean took(Result result) {
      if (over) {
        return false;
      }
      current = null;
      if (result instanceof Result.Delivered) {
        call.outcome.delivered(this, result);
        return true;
      }
      over = true;
      call.outcome.decide(this, delivered(), result);
      call.open.countDown();
      return false;
    }

    private synchronized long patience(long now) {
      return over ? Long.MAX_VALUE : patience(current, now);
    }

    private void end(boolean interrupted) {
      W last;
      synchronized (this) {
        if (over) {
          return;
        }
        over = true;
        last = current;
      }
      if (isOpen()) {
        I item = item(delivered());
        Result result = interrupted ? interrupted(item, last) : left(item, last);
        call.outcome.decide(this, delivered(), result);
      }
      call.open.countDown();
    }
  }
}
