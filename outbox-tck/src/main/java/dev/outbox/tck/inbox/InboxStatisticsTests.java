package dev.outbox.tck.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.inbox.Begin.Lock;
import dev.outbox.spi.store.InboxStore.InboxStatistics;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Patient;
import dev.outbox.tck.internal.Sentence;
import java.util.List;
import org.junit.jupiter.api.DisplayName;

/** F1: what an inbox says of what is not done. */
@DisplayName("Statistics")
@Rule("F1")
abstract class InboxStatisticsTests<T> extends InboxTests<T> {
  private static final int CAP = 100;

  private InboxStatistics statistics(int cap) {
    InboxStatistics statistics = store().statistics(cap);
    if (statistics == null) {
      throw Patient.notUnlocked("the store", "statistics");
    }
    return statistics;
  }

  @Sentence("statistics count what is in progress, what ran out and what failed, and nothing else")
  void statistics() {
    expect("statistics of an empty inbox", statistics(CAP))
        .isEqualTo(new InboxStatistics(CAP, 0, 0, 0));
    firstTime(key("recorded"));
    started(key("completed")).complete(result("r"));
    expect("statistics, when all is done", statistics(CAP))
        .isEqualTo(new InboxStatistics(CAP, 0, 0, 0));
    started(key("a"));
    started(key("b"));
    started(key("c"));
    started(key("failed")).release("refused");
    started(key("failed too")).release("refused");
    started(key("over"), soon());
    Lock<T> other = started(key("other"), soon());
    requires("I4", () -> awaitStarted(other.key())); // so both have ended
    expect("statistics of 4 in progress, 1 that ran out, 2 that failed", statistics(CAP))
        .isEqualTo(new InboxStatistics(CAP, 4, 1, 2));
    started(key("failed"));
    awaitStarted(key("over")).complete(result("r"));
    expect("statistics of 5 in progress, 1 that failed", statistics(CAP))
        .isEqualTo(new InboxStatistics(CAP, 5, 0, 1));
  }

  @Sentence("statistics are exact below the cap, are the cap from there on, and refuse one below 1")
  void statisticsEndAtTheCap() {
    int each = 7;
    for (int i = 0; i < each; i++) {
      started(key("locked " + i));
      started(key("failed " + i)).release("refused");
    }
    for (int cap : List.of(1, each - 1, each, each + 1, Integer.MAX_VALUE)) {
      long few = Math.min(cap, each);
      assertThat(statistics(cap))
          .as("statistics with a cap of %s, beside %s keys of each kind", cap, each)
          .isEqualTo(new InboxStatistics(cap, few, 0, few));
    }
    for (int cap : List.of(0, -1, Integer.MIN_VALUE)) {
      assertRefused("statistics(%s)".formatted(cap), "" + cap, () -> statistics(cap));
    }
  }
}
