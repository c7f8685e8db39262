package dev.outbox.tck.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;

/** F1: what a store says of what it holds. What that costs, {@link WorkTests} asks. */
@DisplayName("Statistics")
@Rule("F1")
abstract class StatisticsTests<T> extends StoreTests<T> {
  private static final int CAP = 100;
  private static final int MOST = Integer.MAX_VALUE;

  private Statistics statistics(int cap) {
    return tck.ability(StatisticsStore.class).statistics(cap);
  }

  @Sentence("statistics count what is pending, scheduled, blocked and dead")
  void statistics() {
    Statistics none = statistics(CAP);
    expect("statistics of an empty store", none)
        .isEqualTo(new Statistics(CAP, 0, 0, 0, 0, 0, 0, null, null, none.relays()));
    committed("waits", 3);
    retryFirst(claim(), LONG, true);
    committed("halted", 2);
    die(true);
    assertNothingDue("one key waits, one is halted");
    committed(message("later").deliverAfter(LONG));
    expect("oldestFree, when nothing is free", statistics(CAP).oldestFree()).isNull();
    committed("free", 2);
    Statistics came = statistics(CAP);
    assertThat(came.pending() + came.scheduled() + came.blocked())
        .as("pending, scheduled and blocked in %s", came)
        .isEqualTo(3 + 1 + 1 + 2);
    expect("pending", came.pending()).isGreaterThanOrEqualTo(2);
    expect("scheduled", came.scheduled()).isEqualTo(1);
    expect("dead", came.dead()).isEqualTo(1);
    expect("blockedKeys", came.blockedKeys()).isEqualTo(1);
    expect("haltedKeys", came.haltedKeys()).isEqualTo(1);
    assertThat(came.oldestFree()).as("oldestFree").isNotNull().isLessThan(LONG);
    assertThat(came.oldestBlocked()).as("oldestBlocked").isNotNull().isLessThan(LONG);
  }

  @Sentence("statistics count a key as blocked until what it waited for was delivered or is dead")
  void statisticsOfKeysThatGoOn() {
    for (Decision end : List.of(Decision.delivered(), Decision.dead("rejected"))) {
      committed("k", 1);
      retryFirst(claim(), Duration.ZERO, true);
      expect("blockedKeys, at a retry", statistics(CAP).blockedKeys()).isEqualTo(1);
      settle(awaitClaim("the retry"), end);
      expect("blockedKeys, when a retry ends as %s".formatted(end), statistics(CAP).blockedKeys())
          .isZero();
    }
    expect("oldest, when nothing waits", statistics(CAP).oldest()).isNull();
  }

  @Sentence("statistics are exact below the cap, are the cap from there on, and refuse one below 1")
  void statisticsEndAtTheCap() {
    int each = 7;
    committed(each, i -> "retried" + i);
    decideAll(100, m -> Decision.retry(LONG, "refused"));
    committed(each, i -> "dead" + i);
    decideAll(100, m -> Decision.dead("rejected"));
    committed(each, i -> "halted" + i);
    decideAll(100, m -> Decision.deadHaltingKey("rejected"));
    for (int i = 0; i < each; i++) {
      committed("free" + i, 1);
      committed(message("later").deliverAfter(LONG));
    }
    for (int cap : List.of(1, each - 1, each, each + 1, 2 * each, 2 * each + 1, MOST)) {
      long few = Math.min(cap, each);
      long dead = Math.min(cap, 2 * each);
      assertThat(statistics(cap))
          .as("statistics with a cap of %s, beside %s messages of each kind", cap, each)
          .usingRecursiveComparison()
          .ignoringFieldsOfTypes(Duration.class)
          .ignoringFields("relays")
          .isEqualTo(new Statistics(cap, few, few, few, dead, few, few, null, null, null));
    }
    for (int cap : List.of(0, -1, Integer.MIN_VALUE)) {
      assertRefused("statistics(%s)".formatted(cap), "" + cap, () -> statistics(cap));
    }
  }
}
