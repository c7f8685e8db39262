package dev.outbox.publisher.core;

import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The turns of the messages of one limit. A message that cannot go at once gets a turn of its own,
 * at which it goes when it is handed over again; others cannot take it. So each message waits once,
 * and one that came first is not passed again and again. When more messages wait than have turns,
 * the oldest have them: one that comes without a turn takes that of the youngest, if that one is
 * younger. No more turns than the rate allows are in any period. A turn may be used late, as after
 * a pause of the relay; but no more than twice as many messages go in any period. Safe for use by
 * many threads. All times are those of {@link System#nanoTime}.
 */
final class Turns {
  /** More messages than these have no turn of their own; they come again behind all that have. */
  static final int MOST = 10_000;

  /** All turns are looked at once for so many messages, as that takes a while. */
  private static final int REMOVE_AFTER = MOST / 10;

  /** How late a turn may be used, beside a period; then the message gets another. */
  static final Duration LATE = Duration.ofSeconds(10);

  private final long period;
  private final Latest given;
  private final Latest used;
  private final NavigableMap<Waiting, Turn> kept = new TreeMap<>();

  /** How many messages found no turn since those were removed that nobody came for. */
  private int withoutTurn;

  /** Until when those that were sent may come for their answers. */
  private final Map<UUID, Long> sent = new HashMap<>();

  /** A message, by age. */
  private record Waiting(long sequence, UUID id) implements Comparable<Waiting> {
    @Override
    public int compareTo(Waiting other) {
      int byAge = Long.compare(sequence, other.sequence);
      return byAge != 0 ? byAge : id.compareTo(other.id); // of another outbox
    }
  }

  private record Turn(long from, long to) {}

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
  synchronized long await(StoredMessage message, long now) {
    Long comesForAnswer = sent.remove(message.message().id());
    if (comesForAnswer != null && comesForAnswer - now > 0) {
      return 0;
    }
    Waiting waiting = new Waiting(message.sequence(), message.message().id());
    Turn turn = kept.remove(waiting);
    if (turn == null || turn.to - now <= 0) {
      turn = next(waiting, now);
    }
    if (turn == null) {
      return given.left(period, now);
    }
    long wait = Math.max(turn.from - now, used.left(period, now));
    if (wait > 0) {
      kept.put(waiting, turn);
    } else {
      used.add(now);
    }
    return Math.max(0, wait);
  }

  /** A turn for a message; null when older ones have all turns. */
  private @Nullable Turn next(Waiting waiting, long now) {
    long wait = given.left(period, now);
    if (wait > 0 && kept.size() >= MOST) {
      if (++withoutTurn >= REMOVE_AFTER) {
        withoutTurn = 0;
        kept.values().removeIf(one -> one.to - now <= 0);
      }
      if (kept.size() >= MOST) {
        return waiting.compareTo(kept.lastKey()) < 0 ? kept.pollLastEntry().getValue() : null;
      }
    }
    given.add(now + wait);
    return new Turn(now + wait, now + wait + period + LATE.toNanos());
  }

  /** A message that was sent comes for its answer, and needs no turn for that. */
  synchronized void keep(StoredMessage message, long now, Duration time) {
    if (sent.size() >= MOST) {
      sent.values().removeIf(until -> until - now <= 0);
    }
    if (sent.size() < MOST) {
      sent.put(message.message().id(), now + time.toNanos());
    }
  }
}
