package dev.outbox.publisher.http;

import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.core.KeyRun;
import dev.outbox.publisher.core.Outcome;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One call. Of each key one request is on its way, and the next one is sent when that was answered
 * with 2xx (P2); keys go side by side. What a request brings is decided in the client's threads;
 * the calling thread only waits, and never past the call's time (P5). It does not wait either for
 * requests that take longer than {@link RequestSlots#patience}, once all others are answered (P3):
 * these go on, and {@link Unanswered} keeps what comes of them.
 */
final class Call {
  private final Sender sender;
  private final Outcome<Run> outcome;
  private final CountDownLatch open;
  private final long end;

  /**
   * A message.
   *
   * @param to its {@link Endpoint}, or the {@link Result} that says why it has none
   */
  private static final class Addressed extends KeyRun.Item {
    private final Object to;

    private Addressed(int index, int position, StoredMessage message, Object to) {
      super(index, position, message);
      this.to = to;
    }
  }

  Call(Sender sender, List<StoredMessage> messages) {
    this.sender = sender;
    end = System.nanoTime() + sender.timing().call().toNanos();
    outcome = new Outcome<>(messages, Run::new);
    open = new CountDownLatch(outcome.runs().size());
  }

  private Object locate(StoredMessage message) {
    try {
      return sender.endpoint(message);
    } catch (Destination.MissingException e) {
      return e.result();
    } catch (IllegalArgumentException e) {
      return Result.rejected(String.valueOf(e.getMessage()));
    }
  }

  List<Result> run() throws InterruptedException {
    outcome.runs().forEach(Run::next);
    try {
      long left = leaveLate();
      while (left > 0 && !open.await(left, TimeUnit.NANOSECONDS)) {
        left = leaveLate();
      }
    } finally {
      outcome.runs().forEach(Run::leave);
    }
    return outcome.results();
  }

  /** Leaves those that take too long; returns how long to wait for the others before the next. */
  private long leaveLate() {
    long now = System.nanoTime();
    long next = Math.min(end - now, sender.timing().call().toNanos());
    for (Run run : outcome.runs()) {
      long patience = run.patience(now);
      if (patience <= 0) {
        run.leave();
      }
      next = Math.min(next, Math.max(1, patience));
    }
    return next;
  }

  /**
   * The messages of one key, in order. One thread at a time has to do with it, but the calling one
   * may leave it at any time.
   */
  private final class Run extends KeyRun<Addressed> implements RequestSlots.User {
    private long since = System.nanoTime();
    private @Nullable Sent sent;
    private boolean over;

    @Override
    protected Addressed newItem(int index, int position, StoredMessage message) {
      return new Addressed(index, position, message, locate(message));
    }

    @Override
    protected String destination(Addressed item) {
      return item.to instanceof Endpoint to ? to.name() : super.destination(item);
    }

    /** Goes on with the next message, or the end. */
    void next() {
      for (Addressed item = current(); item != null; item = current()) {
        Result known = sender.unanswered().of(item.message());
        if (known == null && item.to instanceof Endpoint endpoint) {
          sender.slots(endpoint).ask(this);
          return;
        }
        boolean ignored = took(known != null ? known : (Result) item.to);
      }
    }

    private synchronized @Nullable Addressed current() {
      if (!over && !isOpen()) {
        over = true;
        open.countDown();
      }
      return over ? null : item(delivered());
    }

    /** Sends, when that is right now; says whether a request is on its way. */
    @Override
    public boolean use(RequestSlots.Slot slot) {
      Sent request;
      synchronized (this) {
        if (over) {
          return false;
        }
        Addressed item = item(delivered());
        request = new Sent(item.message(), (Endpoint) item.to, slot, new CompletableFuture<>());
        sent = request;
        since = System.nanoTime();
      }
      Result refusal = isTimeLeft() ? sender.refusal(request.endpoint()) : noTimeLeft();
      if (refusal == null) {
        try {
          sender.send(request);
          CompletableFuture<?> unused = request.result().thenAccept(this::ended);
          return true;
        } catch (Requests.NoFieldException e) {
          refusal = Result.unavailable(String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
          refusal = Result.failed("%s: %s".formatted(request.endpoint().name(), e));
        }
      }
      boolean ignored = request.result().complete(refusal);
      boolean unused = took(refusal);
      return false;
    }

    private void ended(Result result) {
      if (took(result)) {
        next();
      }
    }

    /** Takes the result of the current message; returns whether the next one may be sent. */
    private synchronized boolean took(Result result) {
      if (over) {
        return false;
      }
      if (!(result instanceof Result.Delivered)) {
        stop(result);
        return false;
      }
      outcome.delivered(this, result);
      since = System.nanoTime();
      sent = null;
      return true;
    }

    /** Decides a message that was not delivered, and with it those behind it (P2). */
    private void stop(Result result) {
      over = true;
      outcome.decide(this, delivered(), result);
      open.countDown();
    }

    /** For how long to wait yet, in nanoseconds. */
    synchronized long patience(long now) {
      if (over) {
        return Long.MAX_VALUE;
      }
      return isOpen() && item(delivered()).to instanceof Endpoint endpoint
          ? sender.waitsUntil(endpoint, item(delivered()).message(), sent != null, since) - now
          : sender.timing().patience().toNanos();
    }

    /** The call does not wait for it any more. */
    void leave() {
      Sent request;
      synchronized (this) {
        if (over) {
          return;
        }
        over = true;
        request = sent;
      }
      if (isOpen()) {
        stop(request != null ? sender.leave(request) : notSentYet(item(delivered())));
      }
    }

    private Result notSentYet(Addressed item) {
      return item.to instanceof Endpoint endpoint ? sender.notSent(endpoint, this) : noTimeLeft();
    }
  }

  private boolean isTimeLeft() {
    return end - System.nanoTime() >= sender.timing().request().toNanos();
  }

  private static Result noTimeLeft() {
    return Result.unavailable(
        "not sent, because the call's time went by with the messages before it: give the relay a smaller batchSize, or the publisher more maxInFlight");
  }
}
