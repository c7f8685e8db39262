package dev.outbox.publisher.core;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/**
 * The turns of the messages of one limit. A message that cannot go at once gets a turn of its own,
 * at which it goes when it is handed over again; others cannot take it. So each message waits once,
 * and a message that came first is not passed again and again. No more turns than the rate allows
 * are in any period; one that was not used within a period is lost. Safe for use by many threads.
 * All times are those of {@link System#nanoTime}.
 */
final class Turns {
  /** More messages than this have no turn of their own; they come again behind all that have. */
  static final int MOST = 10_000;

  /** The latest turns, the oldest of them at {@link #next}. */
  private final long[] last;

  private final long period;
  private final Map<UUID, Turn> kept = new HashMap<>();
  private int next;
  private int used;

  private record Turn(long from, long to) {}

  Turns(Rate rate) {
    last = new long[rate.messages()];
    period = rate.period().toNanos();
  }

  /** How long a message has to wait, in nanoseconds; 0: it is its turn, which is used thereby. */
  synchronized long await(UUID message, long now) {
    Turn turn = kept.get(message);
    if (turn != null && turn.to - now > 0) {
      if (turn.from - now > 0) {
        return turn.from - now;
      }
      kept.remove(message);
      return 0;
    }
    kept.remove(message);
    if (kept.size() >= MOST) {
      kept.values().removeIf(one -> one.to - now <= 0);
    }
    long wait = used < last.length ? 0 : Math.max(0, last[next] + period - now);
    if (wait > 0 && kept.size() >= MOST) {
      return wait;
    }
    last[next] = now + wait;
    next = (next + 1) % last.length;
    used = Math.min(used + 1, last.length);
    if (wait > 0) {
      kept.put(message, new Turn(now + wait, now + wait + period));
    }
    return wait;
  }

  /** A message that was sent comes for its answer, and needs no turn for that. */
  synchronized void keep(UUID message, long now, Duration time) {
    if (kept.size() < MOST) {
      kept.put(message, new Turn(now, now + time.toNanos()));
    }
  }
}
