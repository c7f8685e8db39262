package dev.outbox.tck.publisher;

import dev.outbox.tck.publisher.PublisherTck.Received;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A broker in memory, in front of which a publisher can be right or wrong. */
class PublisherBroker {
  /** The header that makes the broker refuse a message. */
  static final String POISON = "poison";

  /** The header that sends a message to a destination that does not exist. */
  static final String MISSING = "missing";

  /** The header that sends a message to a destination that cannot make it durable. */
  static final String NOT_DURABLE = "not durable";

  /** The header that sends a message to a destination that never answers. */
  static final String HANGING = "hanging";

  private enum State {
    UP,
    STOPPED,
    HANGS
  }

  /** Why a message was not taken. */
  static final class NotTaken extends Exception {
    private static final long serialVersionUID = 1L;
    final Reason reason;

    enum Reason {
      REJECTED,
      MISSING,
      NOT_DURABLE,
      SILENT,
      DOWN
    }

    NotTaken(Reason reason) {
      super(reason.toString());
      this.reason = reason;
    }
  }

  private final List<Received> taken = new ArrayList<>();
  private final List<Received> unsafe = new ArrayList<>();
  private State state = State.UP;
  private int untilCrash = -1;

  /** A test that has none takes as long: less than the least patience. */
  private static final Duration SOON = Duration.ofSeconds(1);

  synchronized List<Received> taken() {
    return List.copyOf(taken);
  }

  synchronized void stop() {
    state = State.STOPPED;
  }

  /** Stops among the messages of a call, if there is one soon; else all the same. */
  synchronized void crash() throws InterruptedException {
    untilCrash = 10;
    waitWhile(() -> state == State.UP, SOON);
    state = State.STOPPED;
    untilCrash = -1;
    taken.removeAll(unsafe);
  }

  synchronized void hang() {
    state = State.HANGS;
  }

  synchronized void start() {
    state = State.UP;
    notifyAll();
  }

  /**
   * Whether it would take the message; waits while it or the destination hangs, so long at most.
   */
  synchronized void check(Received message, Duration patience)
      throws NotTaken, InterruptedException {
    if (!answers(patience)) {
      throw new NotTaken(NotTaken.Reason.DOWN);
    }
    if (has(message, HANGING)) {
      waitWhile(() -> true, patience);
      throw new NotTaken(NotTaken.Reason.SILENT);
    }
    if (has(message, POISON)) {
      throw new NotTaken(NotTaken.Reason.REJECTED);
    }
    if (has(message, MISSING)) {
      throw new NotTaken(NotTaken.Reason.MISSING);
    }
    if (has(message, NOT_DURABLE)) {
      throw new NotTaken(NotTaken.Reason.NOT_DURABLE);
    }
  }

  /** Waits while it hangs, at most so long. */
  synchronized boolean answers(Duration patience) throws InterruptedException {
    waitWhile(() -> state == State.HANGS, patience);
    return state == State.UP;
  }

  private synchronized void waitWhile(BooleanSupplier condition, Duration patience)
      throws InterruptedException {
    long end = System.nanoTime() + patience.toNanos();
    while (condition.getAsBoolean() && end - System.nanoTime() > 1_000_000) {
      wait((end - System.nanoTime()) / 1_000_000);
    }
  }

  synchronized void take(Received message) {
    taken.add(message);
    if (untilCrash > 0 && --untilCrash == 0) {
      state = State.STOPPED;
      notifyAll();
    }
  }

  /** Takes what a crash loses. */
  synchronized void takeUntilCrash(Received message) {
    unsafe.add(message);
    take(message);
  }

  static boolean has(Received message, String header) {
    return message.headers().stream().anyMatch(h -> h.name().equals(header));
  }
}
