package dev.outbox.publisher.core;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The connection that all calls use, and another one in its place once it is of no use. It is made
 * in the background: that may take long, as when a host's name has no answer. Safe for use by many
 * threads.
 *
 * @param <C> a connection
 */
public final class Reconnecting<C extends Reconnecting.Connection> {
  private final String thread;
  private final Callable<? extends C> opener;
  private final Function<@Nullable Throwable, String> words;
  private @Nullable CompletableFuture<C> current;
  private boolean closed;

  /** What is made anew; safe for use by many threads. */
  public interface Connection {
    /** Whether it is of use. */
    boolean isOpen();

    /** Closes it in good order; may take so many milliseconds, and more. */
    void close(long millis);

    /** Ends it, whatever hangs in it; returns at once. */
    void kill();
  }

  /** There is no connection; says why in one sentence. */
  public static final class NoConnectionException extends Exception {
    private static final long serialVersionUID = 1L;

    public NoConnectionException(String message) {
      super(message);
    }
  }

  /**
   * Connects to nothing yet.
   *
   * @param thread the begin of the names of threads
   * @param opener makes a connection; what it throws ends a {@link #get}, a {@link
   *     NoConnectionException} in its own words
   * @param words says why there is no connection; null: it was not made in time
   */
  public Reconnecting(
      String thread, Callable<? extends C> opener, Function<@Nullable Throwable, String> words) {
    this.thread = thread;
    this.opener = opener;
    this.words = words;
  }

  /**
   * The connection, made if need be.
   *
   * @param patience how many nanoseconds to wait for that
   */
  public C get(long patience) throws NoConnectionException, InterruptedException {
    try {
      return start().get(patience, TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new NoConnectionException(words.apply(null));
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      String own = cause instanceof NoConnectionException ? cause.getMessage() : null;
      throw new NoConnectionException(own == null ? words.apply(cause) : own);
    }
  }

  /** Begins to make the connection, unless it is there or is being made. */
  public synchronized CompletableFuture<C> start() {
    if (closed) {
      return CompletableFuture.failedFuture(new NoConnectionException("the publisher is closed"));
    }
    C last = inUse();
    if (last != null && !last.isOpen()) {
      drop(last);
    }
    if (current == null || current.isCompletedExceptionally()) {
      current = BackgroundTasks.call(thread + "-connect", opener);
    }
    return current;
  }

  /** The connection, if it is made. */
  public synchronized @Nullable C inUse() {
    return current == null || current.isCompletedExceptionally() ? null : current.getNow(null);
  }

  /** Makes another one from now on; false when this one is not in use. */
  public synchronized boolean takeOut(C connection) {
    boolean inUse = inUse() == connection;
    current = inUse ? null : current;
    return inUse;
  }

  /** Takes it out of use, if it is in use, and ends it. */
  public void drop(C connection) {
    if (takeOut(connection)) {
      connection.kill();
    }
  }

  /**
   * Closes the connection for good.
   *
   * @param millis how long that may take in good order; 0: it is ended at once
   */
  public void close(long millis) {
    CompletableFuture<C> last;
    C made;
    synchronized (this) {
      closed = true;
      last = current;
      made = inUse();
      current = null;
    }
    if (made != null && millis > 0) {
      close(made, millis);
    } else if (last != null) {
      var unused = last.thenAccept(Connection::kill);
    }
  }

  private void close(C made, long millis) {
    try {
      var unused =
          BackgroundTasks.call(thread + "-close", Executors.callable(() -> made.close(millis)))
              .get(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      made.kill();
    } catch (ExecutionException | TimeoutException e) {
      made.kill();
    }
  }
}
