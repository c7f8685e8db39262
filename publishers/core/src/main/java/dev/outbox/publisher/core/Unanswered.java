package dev.outbox.publisher.core;

import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Messages that were sent and not answered when their call returned, so that one slow destination
 * does not keep the results of others (P3). They are unavailable for now; handed over again, one is
 * not sent again but has the answer to the first request, once that is there. Safe for use by many
 * threads.
 *
 * <p>Order is kept: nothing else of a key is sent before the answer, also where the unanswered
 * message is not handed over again, because it has expired or was discarded. What is forgotten,
 * here or by a restart, is sent again.
 */
public final class Unanswered {
  /** Longer than a relay waits before it hands a message over again. */
  static final Duration KEEP = Duration.ofMinutes(2);

  static final int MOST = 10_000;
  static final Duration FIRST = Duration.ofMillis(500);
  static final Duration LONGEST = Duration.ofSeconds(15);

  /**
   * The same message with the same content; one that somebody has changed by hand is another.
   *
   * @param content a hash, because a payload may be large
   */
  private record Id(UUID id, long sequence, int content) {
    static Id of(StoredMessage stored) {
      var message = stored.message();
      int content =
          Objects.hash(Arrays.hashCode(message.payload()), message.headers(), message.eventType());
      return new Id(message.id(), stored.sequence(), content);
    }
  }

  /**
   * A message.
   *
   * @param since when it was left; or when its answer came
   */
  private record State(String destination, long since, @Nullable Result answer) {
    boolean isOver(long now) {
      return answer != null && now - since > KEEP.toNanos();
    }
  }

  private final Map<Id, State> states = new ConcurrentHashMap<>();

  /** By key, the message that has no answer yet. */
  private final Map<String, Id> open = new ConcurrentHashMap<>();

  private final LongSupplier clock;

  public Unanswered() {
    this(System::nanoTime);
  }

  Unanswered(LongSupplier clock) {
    this.clock = clock;
  }

  /**
   * What is known of a message that is handed over: its answer, which is forgotten thereby; or that
   * there is none yet, to it or to another one of its key.
   *
   * @return null when it has to be sent
   */
  public @Nullable Result of(StoredMessage message) {
    if (states.isEmpty()) {
      return null;
    }
    Id id = Id.of(message);
    State state = states.get(id);
    if (state == null) {
      Id before = open.get(message.key());
      state = before == null ? null : states.get(before);
      if (state == null || state.answer != null) {
        return null;
      }
    }
    long now = clock.getAsLong();
    if (state.answer == null) {
      return none(state.destination, now - state.since);
    }
    states.remove(id, state);
    return state.isOver(now) ? null : state.answer;
  }

  /**
   * A call returns without the answer on a message that it has sent.
   *
   * @param destination for people and for the relay
   * @param answer completes in bounded time; with null or an exception, the message is sent again
   * @return the result for now
   */
  public Result leave(
      StoredMessage message,
      String destination,
      CompletionStage<? extends @Nullable Result> answer) {
    long now = clock.getAsLong();
    if (states.size() >= MOST) {
      states.values().removeIf(state -> state.isOver(now));
    }
    if (states.size() < MOST) {
      Id id = Id.of(message);
      String key = message.key();
      states.put(id, new State(destination, now, null));
      open.put(key, id);
      var unused =
          answer.whenComplete(
              (result, error) -> {
                answered(id, result);
                open.remove(key, id);
              });
    }
    return none(destination, 0);
  }

  private void answered(Id id, @Nullable Result result) {
    long now = clock.getAsLong();
    states.computeIfPresent(
        id, (i, state) -> result == null ? null : new State(state.destination, now, result));
  }

  /** How many there are, with those whose answer nobody has asked for. */
  int size() {
    return states.size();
  }

  /** The longer it takes, the more seldom is asked for it. */
  private static Result none(String destination, long waited) {
    long again = Math.min(LONGEST.toNanos(), Math.max(FIRST.toNanos(), waited / 2));
    return new Result.Unavailable(
        "sent to %s, which has not answered yet".formatted(destination),
        destination,
        Duration.ofNanos(again));
  }
}
