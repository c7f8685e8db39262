package dev.outbox.publisher.handler;

import static java.util.Objects.requireNonNull;

import dev.outbox.publisher.core.BackgroundTasks;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/**
 * Calls functions of the application, the handlers, in the place of a broker. Safe for use by many
 * threads, as long as calls at the same time have no key in common; claims have none (C1).
 *
 * <p><b>Order (P2).</b> One message of a key is handled at a time; the next one begins when it was
 * handled. Keys go side by side. A handler has {@link Builder#concurrency} threads of its own, so
 * that one that hangs slows no other.
 *
 * <p><b>Results (P3).</b>
 *
 * <ul>
 *   <li>delivered: the handler returned;
 *   <li>rejected: it threw a {@link RejectedException}, or what {@link Builder#neverRetryOn} and
 *       {@link Builder#retryOn} say; and a message without a handler;
 *   <li>unavailable: it threw an {@link UnavailableException}; or it is not its turn yet;
 *   <li>failed: it threw anything else, also an {@link Error}, or did not return in time.
 * </ul>
 *
 * <p><b>Time (P5).</b> A handler may take half of the {@link Builder#timeout}. Then its thread is
 * interrupted, the message has failed, and what the handler still does does not count. The messages
 * of its key are unavailable until it really returns. A call does not wait long for a handler that
 * keeps other results: it returns, and the handler goes on; see {@link
 * dev.outbox.publisher.core.Unanswered}.
 */
public final class HandlerPublisher implements MessagePublisher {

  /** The default of {@link Builder#timeout}. */
  public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(20);

  /** The default of {@link Builder#concurrency}. */
  public static final int DEFAULT_CONCURRENCY = 16;

  private static final Result CLOSED = Result.unavailable("the publisher is closed");

  private final Call.Parts parts;
  private volatile boolean closed;

  private HandlerPublisher(Call.Parts parts) {
    this.parts = parts;
  }

  /** Starts without handlers, with the defaults that each setter names. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Returns within the timeout (P5); see {@link HandlerPublisher} for the results.
   *
   * @throws InterruptedException when the relay gave up waiting; the handlers are interrupted too
   */
  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    return closed ? Collections.nCopies(messages.size(), CLOSED) : new Call(parts, messages).run();
  }

  /**
   * Interrupts the handlers that run, and waits for a twentieth of the timeout until they have
   * returned. Their threads are daemons: they do not keep a JVM alive.
   */
  @Override
  public void close() {
    closed = true;
    parts.routes().lanes().forEach(HandlerThreads::close);
    parts.busy().values().forEach(Handling::stop);
    long end = System.nanoTime() + parts.timing().patience().toNanos();
    try {
      for (HandlerThreads lane : parts.routes().lanes()) {
        boolean ignored = lane.awaitEnd(end - System.nanoTime());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Collects the handlers; {@link #build} checks. Not safe for use by many threads. */
  public static final class Builder {
    private static final int MOST_CONCURRENCY = 10_000;

    private final Map<String, MessageHandler> byEventType = new HashMap<>();
    private final Map<String, MessageHandler> byAggregateType = new HashMap<>();
    private final Set<Class<? extends Throwable>> never = new HashSet<>();
    private final Set<Class<? extends Throwable>> only = new HashSet<>();
    private @Nullable MessageHandler others;
    private Duration timeout = DEFAULT_TIMEOUT;
    private int concurrency = DEFAULT_CONCURRENCY;
    private ThreadFactory threads = task -> BackgroundTasks.daemon("outbox-handler", task);

    private Builder() {}

    /**
     * Handles the messages of an event type.
     *
     * @throws IllegalArgumentException when the type has a handler already
     */
    public Builder on(String eventType, MessageHandler handler) {
      return add(byEventType, "event type", eventType, handler);
    }

    /**
     * Handles the messages of an aggregate type whose event type has no handler.
     *
     * @throws IllegalArgumentException when the type has a handler already
     */
    public Builder onAggregate(String aggregateType, MessageHandler handler) {
      return add(byAggregateType, "aggregate type", aggregateType, handler);
    }

    private Builder add(
        Map<String, MessageHandler> handlers, String what, String type, MessageHandler handler) {
      requireNonNull(handler, "handler");
      if (handlers.putIfAbsent(requireNonNull(type, what), handler) != null) {
        throw new IllegalArgumentException(
            "the %s %s has two handlers: leave one out".formatted(what, type));
      }
      return this;
    }

    /** Handles all messages that no other handler takes. Default: they are rejected. */
    public Builder onOthers(MessageHandler handler) {
      this.others = requireNonNull(handler, "handler");
      return this;
    }

    /** A message is rejected when its handler throws one of these. Default: none. */
    @SafeVarargs
    public final Builder neverRetryOn(Class<? extends Throwable>... types) {
      never.addAll(List.of(types));
      return this;
    }

    /**
     * A message is tried again only when its handler throws one of these, an {@link Error}, or does
     * not return in time; otherwise it is rejected. Default: it is tried again whatever is thrown.
     */
    @SafeVarargs
    public final Builder retryOn(Class<? extends Throwable>... types) {
      only.addAll(List.of(types));
      return this;
    }

    /**
     * How long {@link HandlerPublisher#publish} takes at most; default {@link #DEFAULT_TIMEOUT}, at
     * least one second. It must be below the relay's publish timeout. A handler may take half of
     * it.
     */
    public Builder timeout(Duration timeout) {
      this.timeout = requireNonNull(timeout, "timeout");
      return this;
    }

    /**
     * How many messages of each type are handled at once; default {@value #DEFAULT_CONCURRENCY}.
     * One that does not return, although it was interrupted, is among them.
     */
    public Builder concurrency(int concurrency) {
      this.concurrency = concurrency;
      return this;
    }

    /**
     * Makes the threads of the handlers, as {@code Thread.ofVirtual().factory()}. Default: daemon
     * threads that end when they are idle.
     */
    public Builder threads(ThreadFactory threads) {
      this.threads = requireNonNull(threads, "threads");
      return this;
    }

    /**
     * Checks and builds; no thread runs yet.
     *
     * @throws IllegalArgumentException naming the setting, its value and what to do
     */
    public HandlerPublisher build() {
      if (concurrency < 1 || concurrency > MOST_CONCURRENCY) {
        throw new IllegalArgumentException(
            "concurrency is %s, allowed is from 1 to %s".formatted(concurrency, MOST_CONCURRENCY));
      }
      if (byEventType.isEmpty() && byAggregateType.isEmpty() && others == null) {
        throw new IllegalArgumentException("there is no handler: add one with on(…)");
      }
      Timing timing = Timing.of(timeout);
      Routes routes =
          new Routes(
              lanes(byEventType, "the handler of the event type ", timing),
              lanes(byAggregateType, "the handler of the aggregate type ", timing),
              others == null ? null : lane("the handler of all others", others, timing));
      return new HandlerPublisher(new Call.Parts(routes, timing));
    }

    private Map<String, HandlerThreads> lanes(
        Map<String, MessageHandler> handlers, String words, Timing timing) {
      Map<String, HandlerThreads> lanes = new HashMap<>();
      handlers.forEach((type, handler) -> lanes.put(type, lane(words + type, handler, timing)));
      return Map.copyOf(lanes);
    }

    private HandlerThreads lane(String name, MessageHandler handler, Timing timing) {
      Failures failures = new Failures(Set.copyOf(never), Set.copyOf(only));
      return new HandlerThreads(name, handler, failures, timing, concurrency, threads);
    }
  }
}
