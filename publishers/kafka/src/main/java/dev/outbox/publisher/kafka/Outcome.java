package dev.outbox.publisher.kafka;

import dev.outbox.publisher.kafka.KeyRun.Item;
import dev.outbox.spi.publisher.Result;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;

/** The results of one call, as they become known. */
final class Outcome {
  private final List<KeyRun> runs;
  private final Result[] results;
  private int open;

  Outcome(List<KeyRun> runs, int messages) {
    this.runs = runs;
    results = new Result[messages];
    open = messages;
  }

  boolean isComplete() {
    return open == 0;
  }

  List<Result> results() {
    return Arrays.asList(results);
  }

  /**
   * The next one of its key was acknowledged.
   *
   * @param stored its text is the topic, the partition and the offset: {@code orders-3@1742}
   */
  void delivered(Item item, @Nullable RecordMetadata stored) {
    results[item.index] = stored == null ? Result.delivered() : Result.delivered(stored::toString);
    open--;
    item.run.delivered++;
  }

  /** Decides a message that was not delivered, and with it the later ones of its key (P2). */
  void decide(KeyRun run, int from, Result result) {
    for (int i = from; i < run.end; i++) {
      Item culprit = run.items.get(from);
      results[run.items.get(i).index] =
          i == from
              ? result
              : Result.notSent(culprit.message, result, culprit.place().destination());
      open--;
    }
    run.end = Math.min(from, run.end);
  }

  /** Decides all that is not delivered. */
  void decideAll(Result result) {
    runs.forEach(run -> decide(run, run.delivered, result));
  }
}
