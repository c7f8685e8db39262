package dev.outbox.publisher.rabbitmq;

import com.rabbitmq.client.AuthenticationFailureException;
import com.rabbitmq.client.PossibleAuthenticationFailureException;
import dev.outbox.publisher.core.BackgroundTasks;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The connection, and another one in its place once it is closed. It is made in the background:
 * that may take long, as when a host's name has no answer.
 */
final class Links {
  private final Broker broker;
  private @Nullable CompletableFuture<Link> current;
  private boolean closed;

  /** That there is no connection, and why, in one sentence. */
  static final class NoLinkException extends Exception {
    NoLinkException(String message) {
      super(message);
    }
  }

  Links(Broker broker) {
    this.broker = broker;
  }

  /**
   * The connection, made if need be.
   *
   * @param patience how many nanoseconds to wait for it
   */
  Link get(long patience) throws NoLinkException, InterruptedException {
    CompletableFuture<Link> made = made();
    try {
      return made.get(patience, TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new NoLinkException("RabbitMQ at %s does not answer".formatted(broker.address()));
    } catch (ExecutionException e) {
      forget(made);
      throw new NoLinkException(why(e.getCause()));
    }
  }

  private synchronized CompletableFuture<Link> made() throws NoLinkException {
    if (closed) {
      throw new NoLinkException("the RabbitMQ publisher is closed");
    }
    Link link = made(current);
    if (link != null && !link.isOpen()) {
      link.kill(); // the client may hang in flushing what was left
      current = null;
    }
    if (current == null) {
      current = BackgroundTasks.call("outbox-rabbitmq-connect", broker::connect);
    }
    return current;
  }

  private static @Nullable Link made(@Nullable CompletableFuture<Link> future) {
    if (future == null || !future.isDone() || future.isCompletedExceptionally()) {
      return null;
    }
    return future.join();
  }

  private synchronized void forget(CompletableFuture<Link> failed) {
    current = current == failed ? null : current;
  }

  private String why(@Nullable Throwable error) {
    String at = "RabbitMQ at " + broker.address();
    if (error instanceof AuthenticationFailureException
        || error instanceof PossibleAuthenticationFailureException) {
      return "%s does not let us in: %s".formatted(at, Link.text(error));
    }
    return error instanceof IOException || error instanceof TimeoutException
        ? "%s cannot be reached: %s".formatted(at, Link.text(error))
        : "connecting to %s threw %s".formatted(at, error);
  }

  /** Closes the connection for good; waits at most so many milliseconds for the broker. */
  void close(int millis) {
    CompletableFuture<Link> last;
    synchronized (this) {
      closed = true;
      last = current;
      current = null;
    }
    Link link = made(last);
    if (link != null) {
      BackgroundTasks.runAndWait("outbox-rabbitmq-close", millis, () -> link.close(millis));
      link.kill(); // by force, where that took too long
    } else if (last != null) {
      var unused = last.thenAccept(Link::kill);
    }
  }
}
