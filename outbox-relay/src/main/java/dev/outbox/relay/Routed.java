package dev.outbox.relay;

import dev.outbox.publisher.core.Unanswered;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One publisher of a {@link RoutingPublisher}, and whether its broker answered when it was last
 * called. Safe for use by many threads.
 *
 * <p>While its broker does not answer and others do, it is tried by one call at a time, with pauses
 * of four times the length of the last call. Otherwise messages of other publishers, which come in
 * the same claims, would wait with it all the time.
 */
final class Routed {
  static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

  private static final int PAUSE = 4;

  /** The most calls that go on while nobody waits for them. */
  private static final int MOST_HANGING = 10;

  /** How long to wait for one that took too long the last time. */
  private static final long IMPATIENCE = Duration.ofMillis(50).toNanos();

  private final String name;
  private final MessagePublisher publisher;
  private final LongSupplier clock;
  private volatile boolean answers;
  private @Nullable String trouble;
  private boolean trying;
  private long pausedUntil;
  private volatile boolean slow;
  private long tooLong;
  private final Unanswered unanswered = new Unanswered();

  /** Calls that were left or given up and have not returned yet. */
  private final List<Publication> hanging = new ArrayList<>();

  Routed(String name, MessagePublisher publisher, LongSupplier clock) {
    this.name = name;
    this.publisher = publisher;
    this.clock = clock;
  }

  String name() {
    return name;
  }

  MessagePublisher publisher() {
    return publisher;
  }

  /** Whether its broker answered when it was last called; not before the first call. */
  boolean answers() {
    return answers;
  }

  /**
   * Asks for leave to call it; when there is leave, {@link #ended} follows.
   *
   * @return why it is not to be called now; null when it may be
   */
  synchronized @Nullable String refusal(boolean othersAnswer) {
    hanging.removeIf(Publication::isFinished);
    if (hanging.size() >= MOST_HANGING) {
      return "%s calls of %s have not returned; none is begun until one does"
          .formatted(hanging.size(), name);
    }
    if (othersAnswer && trouble != null && (trying || pausedUntil - clock.getAsLong() > 0)) {
      return trouble;
    }
    trying = true;
    return null;
  }

  /** What was in calls that went on when others had ended. */
  Unanswered unanswered() {
    return unanswered;
  }

  /**
   * How long others' results wait for a call of it, in nanoseconds.
   *
   * @param most the wait while it is not known to be slow
   */
  long patience(Duration most) {
    return Math.min(most.toNanos(), slow ? IMPATIENCE : Long.MAX_VALUE);
  }

  /**
   * A call goes on by itself; {@link #ended} follows.
   *
   * @param most as of {@link #patience}
   */
  synchronized void left(Publication call, Duration most) {
    slow = true;
    tooLong = most.toNanos();
    hanging.add(call);
  }

  /**
   * A call has ended, or was given up.
   *
   * @param since when it began
   */
  synchronized void ended(Publication call, long since) {
    String error = null;
    boolean answered = false;
    for (Result result : call.results()) {
      if (result instanceof Result.Unavailable u && u.destination() == null) {
        error = u.error();
      } else if (result != null) {
        answered = true;
      }
    }
    long now = clock.getAsLong();
    slow &= now - since > tooLong;
    answers = answered;
    trouble = answered ? null : error != null ? error : name + " did not return in time";
    pausedUntil = now + Math.min(PAUSE * (now - since), LONGEST_PAUSE.toNanos());
    trying = false;
    hanging.remove(call);
    if (!call.isFinished()) {
      hanging.add(call);
    }
  }
}
