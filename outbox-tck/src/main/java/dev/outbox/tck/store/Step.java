package dev.outbox.tck.store;

import dev.outbox.spi.store.Decision;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What may happen next in a {@link StoreStory}. A number chooses among what is there at that
 * moment, so that steps keep a meaning when those before them are left out; a step that has none
 * then does nothing.
 */
sealed interface Step {

  /** Which rule is broken when, after this step, there are not as many messages as should be. */
  default String rule() {
    return this instanceof EndTransaction
        ? "A1"
        : this instanceof SettleAgain ? "S1" : this instanceof DecideOnDeadLetter ? "O3" : "S2";
  }

  enum Content {
    PLAIN,
    DELAYED,
    WITH_DEDUP_KEY,
    UNORDERED
  }

  record Written(int key, Content content) {}

  /**
   * Appends.
   *
   * @param transaction 0: one of its own, which commits; others stay open
   */
  record Append(int transaction, List<Written> messages) implements Step {
    boolean hasDedupKey() {
      return messages.stream().anyMatch(m -> m.content() == Content.WITH_DEDUP_KEY);
    }

    @Override
    public String rule() {
      return hasDedupKey() ? "A4" : "A1";
    }
  }

  record EndTransaction(int transaction, boolean commits) implements Step {}

  record Take(int worker, int most, int hours) implements Step {}

  record Settle(int claim, List<Verdict> verdicts) implements Step {}

  record SettleAndTake(int claim, List<Verdict> verdicts, Take next) implements Step {}

  record SettleAgain(int claim) implements Step {}

  record Renew(int claim, int hours) implements Step {}

  record TimePasses(int hours) implements Step {}

  record DecideOnDeadLetter(int letter, boolean requeues) implements Step {}

  record Housekeep() implements Step {}

  /** A decision, without its error. */
  enum Verdict {
    DELIVERED("delivered", error -> Decision.delivered()),
    NONE("not decided", error -> null),
    RETRIED("to retry at once", error -> Decision.retry(Duration.ZERO, error)),
    UNAVAILABLE(
        "to retry at once, not counted", error -> Decision.retryUncounted(Duration.ZERO, error)),
    RETRIED_IN_1_H("to retry in 1 h", error -> Decision.retry(Duration.ofHours(1), error)),
    RETRIED_IN_3_H("to retry in 3 h", error -> Decision.retry(Duration.ofHours(3), error)),
    UNAVAILABLE_FOR_1_H(
        "to retry in 1 h, not counted",
        error -> Decision.retryUncounted(Duration.ofHours(1), error)),
    DEAD("dead", Decision::dead),
    BLOCKS("dead, halts its key", Decision::deadHaltingKey);

    final String words;
    private final Function<String, @Nullable Decision> decision;

    Verdict(String words, Function<String, @Nullable Decision> decision) {
      this.words = words;
      this.decision = decision;
    }

    /** Later messages of the key must wait. */
    boolean holdsBack() {
      return this != DELIVERED && this != NONE && this != DEAD;
    }

    @Nullable Decision decision(String error) {
      return decision.apply(error);
    }
  }

  /** Any step, what happens often more often. */
  static Step any(Random random) {
    return switch (one(random, 9, 2, 9, 6, 3, 1, 1, 7, 3, 1)) {
      case 0 ->
          new Append(
              transaction(random), list(random, () -> new Written(key(random), content(random))));
      case 1 -> new EndTransaction(1 + random.nextInt(2), one(random, 3, 1) == 0);
      case 2 -> take(random);
      case 3 -> new Settle(which(random), verdicts(random));
      case 4 -> new SettleAndTake(which(random), verdicts(random), take(random));
      case 5 -> new SettleAgain(which(random));
      case 6 -> new Renew(which(random), hours(random));
      case 7 -> new TimePasses(hours(random));
      case 8 -> new DecideOnDeadLetter(which(random), random.nextBoolean());
      default -> new Housekeep();
    };
  }

  /**
   * @param weights how often each number comes, from 0 on
   */
  private static int one(Random random, int... weights) {
    int left = random.nextInt(IntStream.of(weights).sum());
    int number = 0;
    while (left >= weights[number]) {
      left -= weights[number];
      number++;
    }
    return number;
  }

  private static int transaction(Random random) {
    return one(random, 4, 1, 1);
  }

  private static int key(Random random) {
    return one(random, 4, 2, 1, 1);
  }

  private static Content content(Random random) {
    return Content.values()[one(random, 7, 2, 2, 1)];
  }

  private static int which(Random random) {
    return random.nextInt(4);
  }

  private static int hours(Random random) {
    return 1 + random.nextInt(3);
  }

  private static Take take(Random random) {
    int most = List.of(100, 3, 2, 1).get(random.nextInt(4));
    return new Take(1 + random.nextInt(2), most, hours(random));
  }

  private static List<Verdict> verdicts(Random random) {
    Verdict[] all = Verdict.values();
    return list(random, () -> all[random.nextInt(all.length)]);
  }

  private static <E> List<E> list(Random random, Supplier<E> any) {
    return Stream.generate(any).limit(1 + random.nextInt(3)).toList();
  }
}
