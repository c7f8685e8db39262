package dev.outbox.peers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.dev.bench.CpuClock.Time;
import dev.outbox.peers.Peers.Figures;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class PeersReportTest {
  private static final Time CPU = new Time(4e6, 2e6);

  private static List<String> cells(Figures... runs) {
    return List.copyOf(PeersReport.cells("w", Ours.publisher(), List.of(runs)).values());
  }

  private static Figures load(long messages, double... millis) {
    List<Double> all = Arrays.stream(millis).boxed().toList();
    return new Figures(messages, millis.length, 1, all, CPU, 20, 0, 0);
  }

  private static Figures backlog(long arrived, double seconds, int outOfOrder) {
    return new Figures(1_000, arrived, seconds, List.of(), CPU, 20, outOfOrder, 1);
  }

  @Test
  @DisplayName(
      "what did not arrive counts neither for the rate nor as a message that cost something")
  void backlog() {
    assertThat(cells(backlog(500, 2, 3)))
        .containsExactly(
            "w",
            "outbox",
            "250",
            "",
            "",
            "8.00",
            "4.00",
            "12.0",
            "0.0400",
            "500 of 1,000",
            "3",
            "1");
  }

  @Test
  @DisplayName("the median of the runs' rates, the sum of what was out of order")
  void runs() {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.GERMANY); // which has other commas
    List<String> cells;
    try {
      cells = cells(backlog(1_000, 1, 1), backlog(1_000, 4, 2), backlog(1_000, 2, 0));
    } finally {
      Locale.setDefault(before);
    }
    assertThat(cells.get(2)).isEqualTo("500");
    assertThat(cells.get(9)).isEqualTo("3,000 of 3,000");
    assertThat(cells.get(10)).isEqualTo("3");
  }

  @Test
  @DisplayName("a load has times, and none where messages are missing: those took longer")
  void load() {
    assertThat(cells(load(4, 1, 2, 3, 4))).startsWith("w", "outbox", "", "2.00", "4.00");
    assertThat(cells(load(5, 1, 2, 3, 4)))
        .startsWith("w", "outbox", "", "-", "-")
        .contains("4 of 5");
  }

  @Test
  @DisplayName("a contender that publishes nothing has no figures, and breaks nothing")
  void nothing() {
    assertThat(cells(load(5))).contains("0 of 5");
  }
}
