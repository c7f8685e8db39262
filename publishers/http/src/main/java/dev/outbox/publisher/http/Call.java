package dev.outbox.publisher.http;

import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.core.KeyRun;
import dev.outbox.publisher.core.SideBySide;
import dev.outbox.publisher.http.Sender.Sent;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One call: of each key one request is on its way, as {@link SideBySide} says. What a request
 * brings is decided in the client's threads. A call does not wait long for requests that take
 * longer than {@link RequestSlots#patience}.
 */
final class Call {
  private final Sender sender;
  private final SideBySide call;
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
    call = new SideBySide(messages, end, Run::new);
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
    return call.results();
  }

  /** The messages of one key, in order. */
  private final class Run extends SideBySide.Run<Addressed, Sent> implements RequestSlots.User {
    /** When the last message was sent, or began to wait for its turn. */
    private volatile long since = System.nanoTime();

    private Run(SideBySide call) {
      super(call);
    }

    @Override
    protected Addressed newItem(int index, int position, StoredMessage message) {
      return new Addressed(index, position, message, locate(message));
    }

    @Override
    protected String destination(Addressed item) {
      return item.to instanceof Endpoint to ? to.name() : super.destination(item);
    }

    @Override
    protected @Nullable Result begin(Addressed item) {
      since = System.nanoTime();
      Result known = sender.unanswered().of(item.message());
      if (known == null && item.to instanceof Endpoint endpoint) {
        sender.slots(endpoint).ask(this);
        return null;
      }
      return known != null ? known : (Result) item.to;
    }

    /** Sends, when that is right now; says whether a request is on its way. */
    @Override
    public boolean use(RequestSlots.Slot slot) {
      Addressed item = item(delivered());
      Sent request = new Sent(item.message(), (Endpoint) item.to, slot, new CompletableFuture<>());
      since = System.nanoTime();
      if (!isBegun(request)) {
        return false;
      }
      Result refusal = isTimeLeft() ? sender.refusal(request.endpoint()) : noTimeLeft();
      if (refusal == null) {
        try {
          sender.send(request);
          CompletableFuture<?> unused = request.result().thenAccept(this::ended);
          return true;
        } catch (Requests.NoFieldException e) {
          refusal = Result.unavailable(String.valueOf(e.getMessage()));
        } catch (RuntimeException
            | Error e) { // so that this message has a result, and its slot ends
          refusal = Result.failed("%s: %s".formatted(request.endpoint().name(), e));
        }
      }
      boolean ignored = request.result().complete(refusal);
      ended(refusal);
      return false;
    }

    @Override
    protected long patience(@Nullable Sent current, long now) {
      return isOpen() && item(delivered()).to instanceof Endpoint endpoint
          ? sender.waitsUntil(endpoint, item(delivered()).message(), current != null, since) - now
          : sender.timing().patience().toNanos();
    }

    @Override
    protected Result left(Addressed item, @Nullable Sent current) {
      if (current != null) {
        return sender.leave(current);
      }
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
