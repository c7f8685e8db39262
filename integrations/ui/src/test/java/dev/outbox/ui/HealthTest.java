package dev.outbox.ui;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.spi.store.StatisticsStore.WorkerLease;
import dev.outbox.ui.Health.Mood;
import dev.outbox.ui.Readings.Reading;
import dev.outbox.ui.Readings.Sample;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("The first line")
class HealthTest {
  private static final Instant NOW = Instant.parse("2026-11-27T10:00:00Z");

  /**
   * The ages of the oldest free message, now and ten seconds ago, and of the oldest blocked one, in
   * seconds; who lives and who holds something, where the store can say.
   */
  @ParameterizedTest(name = "free {0}, before {1}, blocked {2}, {3} live, {4} hold: {5}, {6}")
  @DisplayName("says how it does")
  @CsvSource({
    ",    ,    ,    ,  , nothing to do, FINE",
    "0.5, ,    , 2,   1, delivering, FINE",
    "59,  49,  , 2,   1, delivering, FINE",
    "0.5, ,    , 0,   0, standing still because no relay lives, BAD",
    "61,  ,    ,  ,   0, standing still because no relay holds anything, BAD",
    "61,  51,  , 2,   1, standing still although relays hold it, BAD",
    "61,  51,  ,  ,    , standing still although relays hold it, BAD",
    "61,  ,    , 2,   1, delivering a backlog, CARE",
    "900, 895, , 2,   1, delivering a backlog, CARE",
    ",    ,   5, 2,   1, waiting for a retry, CARE",
    ",    ,  61, 2,   1, standing still because all keys that wait have failed, BAD",
    ",    ,  -1, 2,   1, standing still because dead letters halt all keys that wait, BAD",
  })
  void verdict(
      Double free,
      Double before,
      Integer blocked,
      Integer relays,
      Integer holding,
      String verdict,
      Mood mood) {
    boolean halted = blocked != null && blocked < 0;
    Health health =
        Health.of(
            new Reading(
                NOW,
                statistics(free, blocked, relays),
                before == null
                    ? null
                    : new Sample(NOW.minus(Readings.SAMPLED), statistics(before, null, null)),
                Optional.ofNullable(holding)
                    .map(
                        count ->
                            count == 0
                                ? List.of()
                                : List.of(new WorkerLease("relay/0", 64, NOW, NOW))),
                List.of("the disk is slow"),
                List.of(),
                Optional.empty()));
    assertThat(health.verdict()).startsWith(verdict);
    assertThat(health.mood()).isEqualTo(mood);
    assertThat(health.reasons()).hasSize(blocked == null ? 1 : 2);
    assertThat(health.reasons().toString())
        .contains("Warning: <bdi>the disk is slow")
        .contains(halted ? "Halted in all" : "", blocked != null && !halted ? "retry" : "");
  }

  private static Statistics statistics(Double free, Integer blocked, Integer relays) {
    boolean halted = blocked != null && blocked < 0;
    return new Statistics(
        10_000,
        free == null ? 0 : 1,
        0,
        blocked == null ? 0 : 3,
        0,
        blocked == null || halted ? 0 : 1,
        halted ? 1 : 0,
        free == null ? null : Duration.ofMillis((long) (free * 1_000)),
        blocked == null || halted ? null : Duration.ofSeconds(blocked),
        relays);
  }
}
