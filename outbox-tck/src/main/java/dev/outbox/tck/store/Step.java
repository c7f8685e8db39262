package dev.outbox.tck.store;

import dev.outbox.spi.store.Decision;
import java.time.Duration;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;
import org.jspecify.annotations.Nullable;

/**
 * What may happen next in a {@link StoreStory}. A number chooses among what is there at that
 * moment, so that steps keep a meaning when those before them are left out; a step that has none
 * then does nothing.
 */
sealed interface Step {

  /** Which rule is broken when, after this step, there are not as many messages as should be. */
  default String rule() {
    return this instanceof InsertByPlainSql
        ? "A6"
        : this instanceof EndTransaction
            ? "A1"
            : this instanceof SettleAgain || this instanceof SettleWhatItHasNot
                ? "S1"
                : this instanceof DecideOnDeadLetter ? "O3" : "S2";
  }

  enum Content {
    PLAIN,
    LARGE,
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

  record InsertByPlainSql(int transaction, int key, boolean delayed) implements Step {}

  record EndTransaction(int transaction, boolean commits) implements Step {}

  record Take(int worker, int most, boolean fewBytes, int hours) implements Step {}

  record Settle(int claim, List<Verdict> verdicts) implements Step {}

  record SettleAndTake(int claim, List<Verdict> verdicts, Take next) implements Step {}

  record SettleAgain(int claim) implements Step {}

  record SettleWhatItHasNot(int claim) implements Step {}

  record Renew(int claim, int hours) implements Step {}

  record TimePasses(int hours) implements Step {}

  record DecideOnDeadLetter(int letter, boolean requeues) implements Step {}

  record Housekeep() implements Step {}

  /** A decision, without its error. */
  enum Verdict {
    DELIVERED("delivered"),
    NONE("not decided"),
    RETRIED("to retry at once"),
    UNAVAILABLE("to retry at once, not counted"),
    RETRIED_IN_1_H("to retry in 1 h"),
    RETRIED_IN_3_H("to retry in 3 h"),
    UNAVAILABLE_FOR_1_H("to retry in 1 h, not counted"),
    DEAD("dead"),
    BLOCKS("dead, halts its key");

    final String words;

    Verdict(String words) {
      this.words = words;
    }

    /** Later messages of the key must wait. */
    boolean holdsBack() {
      return switch (this) {
        case DELIVERED, NONE, DEAD -> false;
        default -> true;
      };
    }

    @Nullable Decision decision(String error) {
      return switch (this) {
        case DELIVERED -> Decision.delivered();
        case NONE -> null;
        case RETRIED -> Decision.retry(Duration.ZERO, error);
        case UNAVAILABLE -> Decision.retryUncounted(Duration.ZERO, error);
        case RETRIED_IN_1_H -> Decision.retry(Duration.ofHours(1), error);
        case RETRIED_IN_3_H -> Decision.retry(Duration.ofHours(3), error);
        case UNAVAILABLE_FOR_1_H -> Decision.retryUncounted(Duration.ofHours(1), error);
        case DEAD -> Decision.dead(error);
        case BLOCKS -> Decision.deadHaltingKey(error);
      };
    }
  }

  /** What comes first in each choice is what shrinking goes for. */
  static Arbitrary<Step> any() {
    Arbitrary<Integer> transaction =
        Arbitraries.frequency(Tuple.of(4, 0), Tuple.of(1, 1), Tuple.of(1, 2));
    Arbitrary<Integer> key =
        Arbitraries.frequency(Tuple.of(4, 0), Tuple.of(2, 1), Tuple.of(1, 2), Tuple.of(1, 3));
    Arbitrary<Integer> which = Arbitraries.integers().between(0, 3);
    Arbitrary<Integer> hours = Arbitraries.integers().between(1, 3);
    Arbitrary<Content> content =
        Arbitraries.frequency(
            Tuple.of(6, Content.PLAIN),
            Tuple.of(1, Content.LARGE),
            Tuple.of(2, Content.DELAYED),
            Tuple.of(2, Content.WITH_DEDUP_KEY),
            Tuple.of(1, Content.UNORDERED));
    Arbitrary<List<Written>> messages =
        Combinators.combine(key, content).as(Written::new).list().ofMinSize(1).ofMaxSize(3);
    Arbitrary<Take> take =
        Combinators.combine(
                Arbitraries.integers().between(1, 2),
                Arbitraries.of(100, 3, 2, 1),
                Arbitraries.frequency(Tuple.of(5, false), Tuple.of(1, true)),
                hours)
            .as(Take::new);
    Arbitrary<List<Verdict>> verdicts =
        Arbitraries.of(Verdict.class).list().ofMinSize(1).ofMaxSize(3);
    Arbitrary<Boolean> either = Arbitraries.of(true, false);
    return Arbitraries.<Step>frequencyOf(
        Tuple.of(8, Combinators.combine(transaction, messages).as(Append::new)),
        Tuple.of(1, Combinators.combine(transaction, key, either).as(InsertByPlainSql::new)),
        Tuple.of(
            2,
            Combinators.combine(
                    Arbitraries.integers().between(1, 2),
                    Arbitraries.frequency(Tuple.of(3, true), Tuple.of(1, false)))
                .as(EndTransaction::new)),
        Tuple.of(7, take),
        Tuple.of(7, Combinators.combine(which, verdicts).as(Settle::new)),
        Tuple.of(3, Combinators.combine(which, verdicts, take).as(SettleAndTake::new)),
        Tuple.of(1, which.map(SettleAgain::new)),
        Tuple.of(1, which.map(SettleWhatItHasNot::new)),
        Tuple.of(1, Combinators.combine(which, hours).as(Renew::new)),
        Tuple.of(4, hours.map(TimePasses::new)),
        Tuple.of(3, Combinators.combine(which, either).as(DecideOnDeadLetter::new)),
        Tuple.of(1, Arbitraries.just(new Housekeep())));
  }
}
