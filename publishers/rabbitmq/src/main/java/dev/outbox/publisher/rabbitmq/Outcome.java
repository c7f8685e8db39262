package dev.outbox.publisher.rabbitmq;

import dev.outbox.publisher.rabbitmq.KeyRun.Item;
import dev.outbox.spi.publisher.Result;
import java.util.Arrays;
import java.util.List;

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

  /** The broker has it. It is delivered when all of its key before it are. */
  void confirmed(Item item) {
    KeyRun run = item.run;
    item.confirmed = true;
    while (run.isOpen() && run.items.get(run.delivered).confirmed) {
      Item first = run.items.get(run.delivered);
      results[first.index] = delivered(first.to(), first.tag);
      run.delivered++;
      open--;
    }
  }

  /** Holds no more than these, and nothing of the message. */
  private static Result delivered(Place to, long tag) {
    return Result.delivered(() -> "%s, delivery tag %d".formatted(to.name(), tag));
  }

  /** Decides a message that was not delivered, and with it the later ones of its key (P2). */
  void decide(Item item, Result result) {
    KeyRun run = item.run;
    for (int i = item.position; i < run.end; i++) {
      results[run.items.get(i).index] = i == item.position ? result : notSent(item, result);
      open--;
    }
    run.end = Math.min(item.position, run.end);
  }

  /** Decides all that is not delivered. */
  void decideAll(Result result) {
    for (KeyRun run : runs) {
      if (run.isOpen()) {
        decide(run.items.get(run.delivered), result);
      }
    }
  }

  private static Result notSent(Item earlier, Result why) {
    Outgoing outgoing = earlier.outgoing;
    String destination =
        outgoing == null ? earlier.message.message().aggregateType() : outgoing.place().name();
    return Result.notSent(earlier.message, why, destination);
  }
}
