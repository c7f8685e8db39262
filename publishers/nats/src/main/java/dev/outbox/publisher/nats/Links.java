package dev.outbox.publisher.nats;

import dev.outbox.publisher.core.BackgroundTasks;
import io.nats.client.Options;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The connection that calls use, made when it is needed and again after it was lost. */
final class Links {
  private final Supplier<Options.Builder> options;
  private final Timing timing;
  private @Nullable CompletableFuture<Link> current;
  private boolean closed;

  /** There is no connection; says why. */
  static final class NoLinkException extends Exception {
    private static final long serialVersionUID = 1L;

    private NoLinkException(String message) {
      super(message);
    }
  }

  /**
   * @param options gives a new builder each time
   */
  Links(Supplier<Options.Builder> options, Timing timing) {
    this.options = options;
    this.timing = timing;
  }

  /**
   * The connection; waits while it is being made.
   *
   * @param patience for that, in nanoseconds
   */
  Link get(long patience) throws NoLinkException, InterruptedException {
    CompletableFuture<Link> link = start();
    try {
      return link.get(patience, TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new NoLinkException("no connection could be made in time");
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() != null ? e.getCause() : e;
      throw new NoLinkException(Urls.masked(String.valueOf(cause.getMessage())));
    }
  }

  /** Begins to connect, where there is no connection and none is being made. */
  synchronized CompletableFuture<Link> start() {
    if (closed) {
      return CompletableFuture.failedFuture(new IOException("the publisher is closed"));
    }
    Link made = made(current);
    if (made != null && !made.isOpen()) {
      drop(made);
    }
    if (current == null || current.isCompletedExceptionally()) {
      current = BackgroundTasks.call("outbox-nats-connect", () -> Link.open(options.get()));
    }
    return current;
  }

  /** The connection, once it was made. */
  private static @Nullable Link made(@Nullable CompletableFuture<Link> link) {
    return link == null || !link.isDone() || link.isCompletedExceptionally() ? null : link.join();
  }

  /** Gives up a connection on which nothing is heard any more, unless that was done before. */
  synchronized void drop(Link link) {
    if (made(current) == link) {
      current = null;
      BackgroundTasks.run("outbox-nats-close", link::close);
    }
  }

  /** Waits at most for the patience of a call. */
  void close() {
    CompletableFuture<Link> last;
    synchronized (this) {
      closed = true;
      last = current;
      current = null;
    }
    Link made = made(last);
    if (made != null) {
      long most = TimeUnit.NANOSECONDS.toMillis(timing.patience());
      BackgroundTasks.runAndWait("outbox-nats-close", most, made::close);
    } else if (last != null) {
      var unused = last.thenAccept(Link::close);
    }
  }
}
