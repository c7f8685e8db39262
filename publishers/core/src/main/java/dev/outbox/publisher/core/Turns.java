package dev.outbox.publisher.core;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/**
 * The turns of the messages of one limit. A message that cannot go at once gets a turn of its own,
 * at which it goes when it is handed over again; others cannot take it. So each message waits once,
 * and one that came first is not passed again and again. No more turns than the rate allows are in
 * any period. A turn may be used late, as after a pause of the relay; but no more than twice as
 * many messages go in any period. Safe for use by many threads. All times are those of {@link
 * System#nanoTime}.
 */
final class Turns {
  /** More messages than this have no turn of their own; they come again behind all that have. */
  static final int MOST = 10_000;

  /** How late a turn may be used, beside a period; then the message gets another. */
  static final Duration LATE = Duration.ofSeconds(10);

  private final long period;
  private final Latest given;
  private final Latest used;
  private final Map<UUID, Turn> kept = new HashMap<>();

  /**
   * A message's turn.
   *
   * @param counts whether the message goes to the destination, and not only for an answer
   */
  private record Turn(long from, long to, boolean counts) {}

  /** The latest times of something that may happen so often in a period. */
  private static final class Latest {
    private final long[] times;
    private int next;
    private int count;

    Latest(int most) {
      times = new long[most];
    }

    /** How long to wait until it may happen again. */
    long left(long period, long now) {
      return count < times.length ? 0 : Math.max(0, times[next] + period - now);
    }

    void add(long time) {
      times[next] = time;
      next = (next + 1) % times.length;
      count = Math.min(count + 1, times.length);
    }
  }

  Turns(Rate rate) {
    period = rate.period().toNanos();
    given = new Latest(rate.messages());
    used = new Latest(2 * rate.messages());
  }

  /** How long a message has to wait, in nanoseconds; 0: it is its turn, which is used thereby. */
  synchronized long await(UUID message, long now) {
    Turn turn = kept.get(message);
    if (turn == null || turn.to - now <= 0) {
      kept.remove(message);
      long wait = given.left(period, now);
      if (wait > 0 && !hasRoom(now)) {
        return wait;
      }
      given.add(now + wait);
      turn = new Turn(now + wait, now + wait + period + LATE.toNanos(), true);
    }
    long wait = Math.max(turn.from - now, turn.counts ? used.left(period, now) : 0);
    if (wait > 0) {
      kept.put(message, turn);
      return wait;
    }
    kept.remove(message);
    if (turn.counts) {
      used.add(now);
    }
    return 0;
  }

  private boolean hasRoom(long now) {
    if (kept.size() >= MOST) {
      kept.values().removeIf(one -> one.to - now <= 0);
    }
    return kept.size() < MOST;
  }

  /** A message that was sent comes for its answer, and needs no turn for that. */
  synchronized void keep(UUID message, long now, Duration time) {
    if (hasRoom(now)) {
      kept.put(message, new Turn(now, now + time.toNanos(), false));
    }
  }
}
