package dev.outbox.publisher.core;

import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The results of one call, as they become known: one for each message, in order (P1). Once a
 * message is not delivered, no later one of its key is (P2). Several threads may use it, but only
 * one at a time for each run.
 *
 * @param <R> the messages of a key, with what the publisher wants to know of them
 */
public final class Outcome<R extends KeyRun<?>> {
  private final List<R> runs;
  private final Result[] results;
  private int open;

  /**
   * @param newRun makes the run of a key
   */
  public Outcome(List<StoredMessage> messages, Supplier<R> newRun) {
    Map<String, R> byKey = new LinkedHashMap<>();
    for (int i = 0; i < messages.size(); i++) {
      StoredMessage message = messages.get(i);
      byKey.computeIfAbsent(message.key(), key -> newRun.get()).add(i, message);
    }
    runs = List.copyOf(byKey.values());
    results = new Result[messages.size()];
    open = messages.size();
  }

  /** The messages of the call, by key. */
  public List<R> runs() {
    return runs;
  }

  /** Whether all messages have results. */
  public synchronized boolean isComplete() {
    return open == 0;
  }

  /** The results, one for each message of the call, once it is complete. */
  public synchronized List<Result> results() {
    return Arrays.asList(results);
  }

  /** The next message of the key was acknowledged. */
  public synchronized void delivered(R run, Result result) {
    run.deliver(result, results);
    open--;
  }

  /** Decides a message that was not delivered, and with it the later ones of its key (P2). */
  public synchronized void decide(R run, int from, Result result) {
    open -= run.decide(from, result, results);
  }

  /** Gives this result to all messages that have none. */
  public synchronized void decideAll(Result result) {
    runs.forEach(run -> decide(run, run.delivered(), result));
  }
}
