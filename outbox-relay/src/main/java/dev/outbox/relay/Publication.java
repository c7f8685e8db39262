package dev.outbox.relay;

import static java.util.Objects.requireNonNull;

import dev.outbox.Texts;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one claim on their way through the publisher, on a thread of its own so that the
 * worker can give up on it. All together first; when that throws, one at a time, so that only the
 * culprit fails (P5).
 *
 * <p>After the worker has given up, a publisher that does not heed the interrupt may still deliver.
 * That repeats deliveries and breaks no order: it too goes through each key in order from the
 * oldest undelivered message on (O1).
 */
final class Publication {
  private static final int TOGETHER = -1;

  private final MessagePublisher publisher;
  private final List<StoredMessage> messages;
  private final Duration timeout;
  private final ExecutorService executor;
  private final AtomicReferenceArray<@Nullable Result> results;
  private final Queue<Broken> broken = new ConcurrentLinkedQueue<>();
  private final CountDownLatch finished = new CountDownLatch(1);
  private final LongSupplier clock;
  private final AtomicReference<Call> call;
  private volatile boolean givenUp;
  private volatile boolean begun;
  private boolean culpritUnknown;
  private @Nullable Future<?> future;
  private Runnable whenFinished = () -> {};

  /**
   * One call of the publisher.
   *
   * @param alone the index of the only message in it, or {@link #TOGETHER}
   */
  private record Call(int alone, long deadline) {}

  /** How the publisher broke its contract. */
  record Broken(String problem, @Nullable Throwable cause) {}

  Publication(
      MessagePublisher publisher,
      List<StoredMessage> messages,
      Duration timeout,
      ExecutorService executor,
      LongSupplier clock) {
    this.publisher = publisher;
    this.messages = List.copyOf(messages);
    this.timeout = timeout;
    this.executor = executor;
    this.results = new AtomicReferenceArray<>(messages.size());
    this.clock = clock;
    this.call = new AtomicReference<>(call(messages.size() == 1 ? 0 : TOGETHER));
  }

  /**
   * Sets what to do when it is finished, in the publisher's thread; to be called before the start.
   */
  void whenFinished(Runnable task) {
    whenFinished = task;
  }

  /** Returns when the publisher's time began, in nanoseconds of the clock. */
  long start() {
    Call first = call(current().alone);
    call.set(first);
    try {
      future = executor.submit(this::run);
    } catch (RejectedExecutionException e) { // the relay is closed: nothing has a result
      finish();
    }
    return first.deadline - timeout.toNanos();
  }

  private Call call(int alone) {
    return new Call(alone, clock.getAsLong() + timeout.toNanos());
  }

  private Call current() {
    return requireNonNull(call.get());
  }

  /** Nanoseconds that the call under way may still take. */
  long left() {
    return current().deadline - clock.getAsLong();
  }

  /** Gives the call under way more time, because it had none while the process stood still. */
  void prolong(long nanos) {
    Call late = current();
    call.compareAndSet(late, new Call(late.alone, late.deadline + nanos)); // or it has ended
  }

  boolean await(long nanos) throws InterruptedException {
    return finished.await(nanos, TimeUnit.NANOSECONDS);
  }

  /** Whether the publisher is not called any more, or never was before it was given up. */
  boolean isFinished() {
    return finished.getCount() == 0 || givenUp && !begun;
  }

  /** Interrupts the publisher; no further call is made. */
  void giveUp() {
    givenUp = true;
    if (future != null) {
      future.cancel(true);
    }
  }

  /** Gives up when the call under way takes too long; returns whether it did. */
  boolean giveUpWhenLate() {
    Call late = current();
    if (finished.getCount() == 0 || late.deadline - clock.getAsLong() > 0) {
      return false;
    }
    giveUp();
    broken.add(new Broken(tooLate(), null));
    culpritUnknown = late.alone == TOGETHER;
    if (!culpritUnknown) {
      results.compareAndSet(late.alone, null, Result.failed(tooLate()));
    }
    return true;
  }

  /** The sentence for a publisher that did not return in time. */
  String tooLate() {
    return "publish did not return within " + Texts.time(timeout);
  }

  /** Whether several messages were in a call that took too long. */
  boolean culpritUnknown() {
    return culpritUnknown;
  }

  /** The results so far, one for each message; null where there is none. */
  List<@Nullable Result> results() {
    List<@Nullable Result> copy = new ArrayList<>(results.length());
    for (int i = 0; i < results.length(); i++) {
      copy.add(results.get(i));
    }
    return copy;
  }

  Iterable<Broken> broken() {
    return broken;
  }

  private void run() {
    begun = true;
    try {
      if (!publish(messages, 0) && messages.size() > 1) {
        oneAtATime();
      }
    } finally {
      finish();
    }
  }

  private void finish() {
    finished.countDown();
    whenFinished.run();
  }

  private void oneAtATime() {
    long end = clock.getAsLong() + timeout.toNanos();
    Set<String> stopped = new HashSet<>();
    for (int i = 0; i < messages.size() && !isOver() && end - clock.getAsLong() > 0; i++) {
      StoredMessage message = messages.get(i);
      if (stopped.contains(message.key())) {
        continue;
      }
      call.set(call(i));
      publish(List.of(message), i);
      Result result = results.get(i);
      if (!(result instanceof Result.Delivered)) {
        stopped.add(message.key());
      }
      if (result instanceof Result.Unavailable u && u.destination() == null) {
        return;
      }
    }
  }

  private boolean isOver() {
    return givenUp || executor.isShutdown();
  }

  /** Publishes in one call; returns false when the messages may have to be tried one at a time. */
  private boolean publish(List<StoredMessage> some, int first) {
    Broken wrong;
    try {
      List<Result> given = publisher.publish(some);
      String problem = problem(given, some.size());
      if (problem == null) {
        for (int i = 0; i < some.size(); i++) {
          results.set(first + i, given.get(i));
        }
        return true;
      }
      wrong = new Broken(problem, null);
    } catch (Throwable e) { // also errors: one message must not end the relay
      if (isOver()) {
        return true;
      }
      wrong = thrown(e);
    } finally {
      boolean ignored = Thread.interrupted(); // what one call leaves behind is not the next one's
    }
    broken.add(wrong);
    if (some.size() == 1) {
      results.set(first, Result.failed(wrong.problem));
    }
    return false;
  }

  /** The text of an exception may throw itself; then it cannot be logged either. */
  private static Broken thrown(Throwable e) {
    try {
      return new Broken("publish threw " + e, e);
    } catch (Throwable unreadable) {
      return new Broken("publish threw " + e.getClass().getName(), null);
    }
  }

  @SuppressWarnings("ConstantValue") // what publishers promise and what they do are two things
  private static @Nullable String problem(@Nullable List<Result> given, int expected) {
    if (given == null) {
      return "publish returned null, expected were %s results (P1)".formatted(expected);
    }
    if (given.size() != expected) {
      return "publish returned %s results for %s messages (P1)".formatted(given.size(), expected);
    }
    for (Result result : given) {
      if (result == null) {
        return "publish returned a null among %s results (P1)".formatted(expected);
      }
    }
    return null;
  }
}
