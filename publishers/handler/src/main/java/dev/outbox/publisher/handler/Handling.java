package dev.outbox.publisher.handler;

import dev.outbox.Texts;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One run of a handler, for one message. Its result comes when the handler returns, or when its
 * time is over; its key is busy until the handler really returns, so that no other run of that key
 * is beside it.
 */
final class Handling implements Runnable {
  private static final Result STOPPED = Result.unavailable("the publisher was stopped");
  private static final Result UNREADABLE = Result.failed("the handler threw what cannot be read");

  private final HandlerThreads threads;
  private final StoredMessage message;
  private final ConcurrentMap<String, Handling> busy;
  private final long lastBegin;
  private final CompletableFuture<Result> result = new CompletableFuture<>();
  private volatile long since = System.nanoTime();
  private volatile boolean begun;
  private @Nullable Thread thread;

  /**
   * @param busy which run a key has
   * @param lastBegin by {@link System#nanoTime}; after that it does not begin
   */
  Handling(
      HandlerThreads threads,
      StoredMessage message,
      ConcurrentMap<String, Handling> busy,
      long lastBegin) {
    this.threads = threads;
    this.message = message;
    this.busy = busy;
    this.lastBegin = lastBegin;
    var unused = result.thenRun(this::interrupt);
  }

  HandlerThreads threads() {
    return threads;
  }

  /** Completes in bounded time, unless it is {@linkplain #remove removed}. */
  CompletableFuture<Result> result() {
    return result;
  }

  /** Begins once its handler has a thread for it. */
  void start() {
    Handling other = busy.putIfAbsent(message.key(), this);
    if (other != null) {
      result.complete(other.isThere());
      return;
    }
    try {
      threads.execute(this);
    } catch (RuntimeException | Error e) { // closed, or no thread can be made
      free();
      result.complete(Result.unavailable(threads.name() + " got no thread: " + e, threads.name()));
    }
  }

  /** What a message of the same key is meanwhile; no reason to wait for those of other keys. */
  private Result isThere() {
    return Result.unavailable(
        "%s has not returned from message %s, which has the same key"
            .formatted(threads.name(), message.sequence()),
        "%s for the key %s".formatted(threads.name(), message.key()));
  }

  @Override
  public void run() {
    Result given = UNREADABLE;
    try {
      given = lastBegin - System.nanoTime() > 0 ? handle() : threads.noTime();
    } finally {
      free();
      result.complete(given);
    }
  }

  private Result handle() {
    try {
      return begin() ? threads.handle(message) : STOPPED;
    } finally {
      end();
    }
  }

  private synchronized boolean begin() {
    since = System.nanoTime();
    begun = true;
    thread = Thread.currentThread();
    return !result
        .completeOnTimeout(late(), threads.timing().handler().toNanos(), TimeUnit.NANOSECONDS)
        .isDone();
  }

  private synchronized void end() {
    thread = null; // the pool clears an interrupt before the thread has its next run
  }

  private synchronized void interrupt() {
    if (thread != null) {
      thread.interrupt();
    }
  }

  private Result late() {
    return Result.failed(
        "%s did not return within %s and was interrupted"
            .formatted(threads.name(), Texts.time(threads.timing().handler())));
  }

  private void free() {
    busy.remove(message.key(), this);
  }

  /** Takes it out of its handler's queue; returns false when it has begun. */
  boolean remove() {
    boolean removed = threads.remove(this);
    if (removed) {
      free();
    }
    return removed;
  }

  /** Interrupts the handler, or sees to it that it does not begin; gives the result of that. */
  Result stop() {
    result.complete(STOPPED);
    boolean ignored = remove();
    return STOPPED;
  }

  /** For how long a call waits for it yet, in nanoseconds; in the queue, while that moves. */
  long patience(long now) {
    long from = begun || threads.moved() - since < 0 ? since : threads.moved();
    long left = threads.patience().toNanos() - (now - from);
    return begun ? left : Math.min(left, lastBegin - now);
  }

  /** What it is in the eyes of a call that left it in the queue. */
  Result notBegun() {
    return lastBegin - System.nanoTime() > 0 ? threads.isFull() : threads.noTime();
  }
}
