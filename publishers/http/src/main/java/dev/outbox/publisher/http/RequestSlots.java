package dev.outbox.publisher.http;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How many requests are on their way to one origin; the others wait in line. At first it is one,
 * and one more for each answer, up to the most. Otherwise each of the first requests would open a
 * connection: with HTTP/2, where one is enough, all but one of these handshakes would be in vain.
 *
 * <p>A request that its call no longer waits for keeps no slot, so a message on which an endpoint
 * hangs does not stop those behind it. Only when all requests that may be on their way are such,
 * the others wait: an origin that hangs gets no more.
 *
 * <p>With HTTP/2 the origin says how many it takes at once, and the client refuses more. It tells
 * nobody the number, so the most is what the refusal shows, and tried again after many answers.
 */
final class RequestSlots {
  /** After this the connections may be closed. */
  static final Duration IDLE = Duration.ofSeconds(5);

  /** With so many answers since the last refusal, one more is tried. */
  private static final int TRY_AFTER = 1_000;

  private final int given;
  private int most;
  private int answersSince;
  private final Timing timing;
  private final LongSupplier clock;
  private final Queue<User> line = new ArrayDeque<>();
  private int allowed = 1;
  private int taken;
  private int left;
  private long used;

  /** Whether a request was left, and none answered since. */
  private boolean silent;

  private boolean answers;
  private long answeredAt;

  /** When the line last moved: by an answer, or because its first request was left. */
  private long moved;

  private long last;
  private long usual;

  RequestSlots(int most, Timing timing, LongSupplier clock) {
    given = most;
    this.most = most;
    this.timing = timing;
    this.clock = clock;
    used = clock.getAsLong();
    moved = used;
  }

  /** Who waits for a slot. */
  interface User {
    /** Says whether it uses the slot; it then calls {@link Slot#free} in the end. */
    boolean use(Slot slot);
  }

  /** One request's. */
  final class Slot {
    private final User user;
    private final long since = clock.getAsLong();
    private final boolean mayReuse = answers;
    private final int beside = taken + left - 1;
    private boolean isLeft;
    private boolean isFree;

    /** Is taken already. */
    private Slot(User user) {
      this.user = user;
    }

    /**
     * No call waits for the request any more, which may have ended just now.
     *
     * @return whether that was so of another one, and none was answered since
     */
    boolean leave() {
      boolean was;
      synchronized (RequestSlots.this) {
        if (isFree) {
          return false;
        }
        was = silent;
        silent = true;
        moved = was ? moved : clock.getAsLong();
        isLeft = true;
        taken--;
        left++;
      }
      serve();
      return was;
    }

    /**
     * The request has ended.
     *
     * @param answered whether the origin answered
     */
    void free(boolean answered) {
      synchronized (RequestSlots.this) {
        used = clock.getAsLong();
        if (answered) {
          answered(used - since);
        } else if (!isLeft) {
          allowed = 1;
        }
        giveBack(this);
      }
      serve();
    }

    /** The request was not sent: so many at once as are on their way beside it are enough. */
    void refused() {
      synchronized (RequestSlots.this) {
        most = Math.max(1, Math.min(most, beside));
        answersSince = 0;
        giveBack(this);
      }
      serve();
    }

    /** Whether it may be sent on a connection that was used before. */
    boolean mayReuse() {
      return mayReuse;
    }

    /** Whether the origin has answered another request since this one began. */
    boolean othersAnswered() {
      synchronized (RequestSlots.this) {
        return answers && answeredAt - since > 0;
      }
    }
  }

  /** Runs it once a slot is free, in this thread or in that of whoever frees one. */
  void ask(User user) {
    synchronized (this) {
      if (isIdle() && clock.getAsLong() - used > IDLE.toNanos()) {
        allowed = 1;
      }
      line.add(user);
    }
    serve();
  }

  /** Takes it out of the line. */
  synchronized void forget(User user) {
    line.remove(user);
  }

  synchronized boolean isIdle() {
    return taken + left == 0 && line.isEmpty();
  }

  /** Whether calls have left all of the requests that may be on their way. */
  synchronized boolean isFull() {
    return left >= most;
  }

  /**
   * How long a call waits for an answer, in nanoseconds. Of the only origin as long as it usually
   * takes; else not for long, and hardly at all for one that took too long the last time.
   *
   * @param alone whether it is the only one
   * @param silent whether the endpoint is silent
   */
  synchronized long patience(boolean alone, boolean silent) {
    long first = timing.patience().toNanos();
    long least = Math.max(2 * usual, Timing.IMPATIENCE.toNanos());
    boolean quick = least <= first;
    if (silent || this.silent || !alone && last > first) {
      return alone || quick && last <= first ? least : Timing.IMPATIENCE.toNanos();
    }
    return alone ? Math.max(first, least) : first;
  }

  /** Since when a call waits in vain that has waited in line since then. */
  synchronized long inVain(long since) {
    return moved - since > 0 ? moved : since;
  }

  /** For people. */
  synchronized String words() {
    return "%s requests to it have not been answered yet".formatted(taken + left);
  }

  private void answered(long time) {
    if (most < given && ++answersSince >= TRY_AFTER) {
      most++;
      answersSince = 0;
    }
    allowed = Math.min(most, allowed + 1);
    answers = true;
    silent = false;
    answeredAt = used;
    moved = used;
    last = time;
    usual = Math.max(time, (7 * usual + time) / 8);
  }

  private synchronized void giveBack(Slot slot) {
    if (slot.isFree) {
      return;
    }
    slot.isFree = true;
    if (slot.isLeft) {
      left--;
    } else {
      taken--;
    }
  }

  private void serve() {
    for (Slot slot = next(); slot != null; slot = next()) {
      boolean isUsed = false;
      try {
        isUsed = slot.user.use(slot);
      } finally { // also where an error ends this
        if (!isUsed) {
          giveBack(slot);
        }
      }
    }
  }

  private synchronized @Nullable Slot next() {
    if (taken >= allowed || taken + left >= most || line.isEmpty()) {
      return null;
    }
    taken++;
    return new Slot(line.remove());
  }
}
