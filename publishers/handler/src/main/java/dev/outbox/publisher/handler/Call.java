package dev.outbox.publisher.handler;

import dev.outbox.publisher.core.KeyRun;
import dev.outbox.publisher.core.Outcome;
import dev.outbox.publisher.core.Unanswered;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One call. Of each key one message is handled at a time, and the next one when that was handled
 * (P2); keys go side by side. The calling thread only waits, and never past the call's time (P5).
 * It does not wait long either for a handler that keeps all other results (P3): that one goes on,
 * and {@link Unanswered} keeps what comes of it.
 */
final class Call {
  private final Parts parts;
  private final Outcome<Run> outcome;
  private final CountDownLatch open;
  private final long end;
  private final long lastBegin;

  /** What all calls share. */
  record Parts(
      Routes routes, Timing timing, Unanswered unanswered, ConcurrentMap<String, Handling> busy) {
    Parts(Routes routes, Timing timing) {
      this(routes, timing, new Unanswered(), new ConcurrentHashMap<>());
    }
  }

  Call(Parts parts, List<StoredMessage> messages) {
    this.parts = parts;
    end = System.nanoTime() + parts.timing().call().toNanos();
    lastBegin = end - parts.timing().handler().toNanos();
    outcome = new Outcome<>(messages, Run::new);
    open = new CountDownLatch(outcome.runs().size());
  }

  List<Result> run() throws InterruptedException {
    outcome.runs().forEach(Run::next);
    try {
      long left = leaveLate();
      while (left > 0 && !open.await(left, TimeUnit.NANOSECONDS)) {
        left = leaveLate();
      }
    } catch (InterruptedException e) {
      outcome.runs().forEach(Run::stop);
      throw e;
    }
    outcome.runs().forEach(Run::leave);
    return outcome.results();
  }

  /** Leaves those that take too long; returns how long to wait for the others before the next. */
  private long leaveLate() {
    long now = System.nanoTime();
    long next = end - now;
    for (Run run : outcome.runs()) {
      long patience = run.patience(now);
      if (patience <= 0) {
        run.leave();
      } else {
        next = Math.min(next, patience);
      }
    }
    return next;
  }

  /**
   * The messages of one key, in order. One thread at a time has to do with it, but the calling one
   * may leave it at any time.
   */
  private final class Run extends KeyRun<KeyRun.Item> {
    private @Nullable Handling current;
    private boolean over;

    @Override
    protected Item newItem(int index, int position, StoredMessage message) {
      return new Item(index, position, message);
    }

    @Override
    protected String destination(Item item) {
      HandlerThreads lane = parts.routes().lane(item.message());
      return lane == null ? super.destination(item) : lane.name();
    }

    /** Goes on with the next message, or the end. */
    void next() {
      for (Item item = first(); item != null; item = first()) {
        Result known = parts.unanswered().of(item.message());
        HandlerThreads lane = parts.routes().lane(item.message());
        if (known == null && lane != null) {
          begin(new Handling(lane, item.message(), parts.busy(), lastBegin));
          return;
        }
        boolean ignored =
            took(known != null ? known : parts.routes().withoutHandler(item.message()));
      }
    }

    private synchronized @Nullable Item first() {
      if (!over && !isOpen()) {
        close();
      }
      return over ? null : item(delivered());
    }

    private void begin(Handling handling) {
      synchronized (this) {
        if (over) {
          return;
        }
        current = handling;
      }
      var unused = handling.result().thenAccept(this::ended);
      handling.start();
    }

    private void ended(Result result) {
      if (took(result)) {
        next();
      }
    }

    /** Takes the result of the first message; returns whether the next one may begin. */
    private synchronized boolean took(Result result) {
      if (over) {
        return false;
      }
      current = null;
      if (result instanceof Result.Delivered) {
        outcome.delivered(this, result);
        return true;
      }
      outcome.decide(this, delivered(), result);
      close();
      return false;
    }

    private void close() {
      over = true;
      open.countDown();
    }

    /** For how long to wait yet, in nanoseconds. */
    synchronized long patience(long now) {
      if (over) {
        return Long.MAX_VALUE;
      }
      return current == null ? parts.timing().patience().toNanos() : current.patience(now);
    }

    /** The call does not wait for it any more. */
    synchronized void leave() {
      if (!over) {
        outcome.decide(this, delivered(), current == null ? notBegun() : left(current));
        close();
      }
    }

    private Result notBegun() {
      HandlerThreads lane = parts.routes().lane(item(delivered()).message());
      return lane == null
          ? parts.routes().withoutHandler(item(delivered()).message())
          : lane.noTime();
    }

    private Result left(Handling handling) {
      if (handling.remove()) {
        return handling.notBegun();
      }
      handling.threads().left();
      StoredMessage message = item(delivered()).message();
      return parts.unanswered().leave(message, handling.threads().name(), handling.result());
    }

    /** The call is given up. What it has left before goes on. */
    void stop() {
      Handling handling;
      synchronized (this) {
        handling = over ? null : current;
        over = true;
      }
      if (handling != null) {
        handling.stop();
      }
    }
  }
}
