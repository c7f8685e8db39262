package dev.outbox.publisher.core;

import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Remembers from call to call which places at a broker do not acknowledge, so that a dead one does
 * not hold up the others. Safe for use by many threads.
 *
 * @param <P> a place, as a partition or a queue
 */
public final class SilentPlaces<P> {
  private static final int MOST = 10_000;

  private final long patience;
  private final long impatience;
  private final long forget;
  private final ConcurrentHashMap<P, Trouble> troubled = new ConcurrentHashMap<>();
  private final Unanswered unanswered = new Unanswered();

  /**
   * Immutable, and changed in the map only, so that none is lost or counted twice.
   *
   * @param stuck messages that a call gave up on and that are still on their way
   * @param leftAt when the last of them was given up
   * @param slow whether it did not acknowledge in time the last time
   */
  private record Trouble(int stuck, long leftAt, boolean slow) {
    static final Trouble NONE = new Trouble(0, 0, false);

    @Nullable Trouble orNull() {
      return stuck > 0 || slow ? this : null;
    }
  }

  /**
   * All in nanoseconds.
   *
   * @param patience how long to wait for a place
   * @param impatience the same where it took too long the last time
   * @param forget after which time what was given up on is taken for lost
   */
  public SilentPlaces(long patience, long impatience, long forget) {
    this.patience = patience;
    this.impatience = impatience;
    this.forget = forget;
  }

  /** Whether messages given up on are still on their way there; not for ever, if one got lost. */
  public boolean isStuck(P to) {
    Trouble known = troubled.getOrDefault(to, Trouble.NONE);
    return known.stuck > 0 && System.nanoTime() - known.leftAt < forget;
  }

  /** Forgets all that was given up on when some of it is taken for lost; returns whether it was. */
  public boolean forgetLost() {
    long now = System.nanoTime();
    return !troubled.isEmpty()
        && troubled.values().stream().anyMatch(t -> t.stuck > 0 && now - t.leftAt >= forget)
        && troubled.values().removeIf(t -> t.stuck > 0);
  }

  /** Whether it did not acknowledge in time the last time. */
  public boolean isSlow(P to) {
    return troubled.getOrDefault(to, Trouble.NONE).slow;
  }

  /** How long to wait for it while the broker answers, in nanoseconds. */
  public long patience(P to) {
    return isSlow(to) ? impatience : patience;
  }

  /** Notes that it did not acknowledge in time. */
  public void slow(P to) {
    if (troubled.size() > MOST) {
      troubled.values().removeIf(t -> t.stuck == 0);
    }
    troubled.merge(to, new Trouble(0, 0, true), (t, fresh) -> new Trouble(t.stuck, t.leftAt, true));
  }

  /** Notes that it acknowledged. */
  public void acknowledged(P to) {
    troubled.computeIfPresent(to, (p, t) -> new Trouble(t.stuck, t.leftAt, false).orNull());
  }

  /** What became of a message that a call gave up on; as {@link Unanswered#of}. */
  public @Nullable Result known(StoredMessage message) {
    return unanswered.of(message);
  }

  /** A message goes to a place. */
  public Passage begin(P to) {
    return new Passage(to);
  }

  /** A message on its way to a place: it ends, or its call gives up on it, whatever is first. */
  public final class Passage {
    private final P to;
    private final AtomicReference<State> state = new AtomicReference<>(State.UNDER_WAY);
    private final CompletableFuture<@Nullable Result> late = new CompletableFuture<>();

    private Passage(P to) {
      this.to = to;
    }

    /**
     * It has ended; says whether a call still waits for that. Otherwise what was given up on there
     * is one less, and {@link #known} has the result.
     *
     * @param delivered null: it is not, and is sent again
     */
    public boolean end(@Nullable Result delivered) {
      boolean awaited = state.compareAndSet(State.UNDER_WAY, State.ENDED);
      if (!awaited && state.get() == State.LEFT) {
        ended(to, delivered != null);
        boolean unused = late.complete(delivered);
      }
      return awaited;
    }

    /**
     * The call gives up on it; false when it has ended before.
     *
     * @param name of the place, for people and for the relay
     */
    public boolean leave(StoredMessage message, String name) {
      left(to); // before its end may come
      boolean left = state.compareAndSet(State.UNDER_WAY, State.LEFT);
      if (left) {
        Result unused =
            unanswered.leave(message, name, late.orTimeout(forget, TimeUnit.NANOSECONDS));
      } else {
        ended(to, false);
      }
      return left;
    }

    /** It was not sent; an end that comes anyway means nothing. */
    public void undo() {
      state.set(State.UNDONE);
    }
  }

  private enum State {
    UNDER_WAY,
    ENDED,
    LEFT,
    UNDONE
  }

  private void left(P to) {
    troubled.merge(
        to,
        new Trouble(1, System.nanoTime(), false),
        (t, fresh) -> new Trouble(t.stuck + 1, fresh.leftAt, t.slow));
  }

  private void ended(P to, boolean delivered) {
    troubled.computeIfPresent(
        to,
        (p, t) -> new Trouble(Math.max(0, t.stuck - 1), t.leftAt, t.slow && !delivered).orNull());
  }
}
