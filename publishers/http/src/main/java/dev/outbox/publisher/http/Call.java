package dev.outbox.publisher.http;

import dev.outbox.spi.Destination;
import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One call. Of each key one request is on its way, and the next one is sent when that was answered
 * with 2xx (P2); keys go side by side. What a request brings is decided in the client's threads;
 * the calling thread only waits, and never past the call's time (P5). A request that is still on
 * its way then ends by its own time limit, and nobody asks for its result.
 */
final class Call {
  private final Sender sender;
  private final Map<String, Run> runs = new LinkedHashMap<>();
  private final @Nullable Result[] results;
  private final CountDownLatch open;
  private final long end;
  private volatile boolean over;

  /**
   * A message.
   *
   * @param to its {@link Endpoint}, or the {@link Result} that says why it has none
   */
  private record Item(int index, StoredMessage message, Object to) {}

  Call(Sender sender, List<StoredMessage> messages) {
    this.sender = sender;
    results = new Result[messages.size()];
    end = System.nanoTime() + sender.timing().call().toNanos();
    for (int i = 0; i < messages.size(); i++) {
      StoredMessage message = messages.get(i);
      Item item = new Item(i, message, locate(message));
      runs.computeIfAbsent(message.key(), key -> new Run()).items.add(item);
    }
    open = new CountDownLatch(runs.size());
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
    runs.values().forEach(Run::next);
    try {
      boolean unused = open.await(end - System.nanoTime(), TimeUnit.NANOSECONDS);
    } finally {
      over = true;
    }
    return results();
  }

  private synchronized List<Result> results() {
    List<Result> all = new ArrayList<>();
    for (Result result : results) {
      all.add(result != null ? result : Result.unavailable("no answer came in time"));
    }
    return all;
  }

  private synchronized void decide(Item item, Result result) {
    results[item.index] = result;
  }

  /** The messages of one key, in order. One thread at a time has to do with it. */
  private final class Run {
    private final List<Item> items = new ArrayList<>();
    private int at;

    void next() {
      if (at == items.size()) {
        open.countDown();
      } else if (items.get(at).to instanceof Endpoint endpoint) {
        Slots slots = sender.slots(endpoint);
        slots.ask(() -> begin(endpoint, slots));
      } else {
        stop((Result) items.get(at).to);
      }
    }

    /** Sends, when that is right now; says whether a request is on its way. */
    private boolean begin(Endpoint endpoint, Slots slots) {
      Result refusal = isTimeLeft() ? sender.refusal(endpoint) : noTimeLeft();
      if (refusal == null) {
        try {
          CompletableFuture<?> unused =
              sender.send(items.get(at).message, endpoint, slots).thenAccept(this::ended);
          return true;
        } catch (Requests.NoFieldException e) {
          refusal = Result.unavailable(String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
          refusal = Result.failed("%s: %s".formatted(endpoint.name(), e));
        }
      }
      stop(refusal);
      return false;
    }

    private void ended(Result result) {
      if (result instanceof Result.Delivered) {
        decide(items.get(at), result);
        at++;
        next();
      } else {
        stop(result);
      }
    }

    /** Decides a message that was not delivered, and with it those behind it (P2). */
    private void stop(Result result) {
      Item culprit = items.get(at);
      decide(culprit, result);
      items.subList(at + 1, items.size()).forEach(item -> decide(item, notSent(culprit, result)));
      open.countDown();
    }
  }

  private boolean isTimeLeft() {
    return !over && end - System.nanoTime() >= sender.timing().request().toNanos();
  }

  private static Result noTimeLeft() {
    return Result.unavailable(
        "not sent, because the call's time went by with the messages before it: give the relay a smaller batchSize, or the publisher more maxInFlight");
  }

  private static Result notSent(Item earlier, Result why) {
    String destination =
        earlier.to instanceof Endpoint to ? to.name() : earlier.message.message().aggregateType();
    return Result.notSent(earlier.message, why, destination);
  }
}
