package dev.outbox.tck.store;

import dev.outbox.spi.store.Decision;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What may happen next in a {@link StoreStory}. Random numbers of its own choose among what is
 * there at that moment, so that steps keep a meaning when those before them are left out; a step
 * that has none then does nothing.
 */
record Step(Kind kind, long seed) {

  enum Kind {
    APPENDS(9, "A1"),
    ENDS_A_TRANSACTION(2, "A1"),
    CLAIMS(9, "S2"),
    SETTLES(6, "S2"),
    SETTLES_AND_CLAIMS(3, "S2"),
    SETTLES_AGAIN(1, "S1"),
    RENEWS(1, "S2"),
    TIME_PASSES(7, "S2"),
    DECIDES_ON_A_DEAD_LETTER(3, "O3"),
    HOUSEKEEPS(1, "S2");

    private final int weight;

    /** Broken when, after this step, there are not as many messages as should be. */
    final String rule;

    Kind(int weight, String rule) {
      this.weight = weight;
      this.rule = rule;
    }
  }

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

    static List<Verdict> some(Random random) {
      return Stream.generate(() -> values()[random.nextInt(values().length)])
          .limit(1 + random.nextInt(3))
          .toList();
    }
  }

  /** Any step, what happens often more often. */
  static Step any(Random random) {
    int[] weights = Stream.of(Kind.values()).mapToInt(kind -> kind.weight).toArray();
    return new Step(Kind.values()[one(random, weights)], random.nextLong());
  }

  /**
   * @param weights how often each number comes, from 0 on
   */
  static int one(Random random, int... weights) {
    int left = random.nextInt(IntStream.of(weights).sum());
    int number = 0;
    while (left >= weights[number]) {
      left -= weights[number];
      number++;
    }
    return number;
  }

  /** Of a lease, or that pass. */
  static int hours(Random random) {
    return 1 + random.nextInt(3);
  }
}
