package dev.outbox.dev.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.dev.bench.CpuClock.Time;
import dev.outbox.dev.bench.Fleet.Outcome;
import dev.outbox.dev.bench.Fleet.Usage;
import dev.outbox.dev.bench.Report.Line;
import dev.outbox.dev.common.Ledger;
import dev.outbox.dev.common.Percentiles;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FiguresTest {

  @Test
  @DisplayName("the median of an even number of runs is between the middle two")
  void median() {
    assertThat(Percentiles.median(List.of(3.0, 1.0, 2.0))).isEqualTo(2.0);
    assertThat(Percentiles.median(List.of(4.0, 1.0, 2.0, 100.0))).isEqualTo(3.0);
  }

  @Test
  @DisplayName("the ratio is taken run by run")
  void ratio() {
    Line line = new Line("s", "c", "u");
    List.of(10.0, 30.0, 20.0).forEach(line.ours()::add);
    List.of(20.0, 10.0, 20.0).forEach(line.limit()::add);
    assertThat(line.ratios()).containsExactly(0.5, 3.0, 1.0);
  }

  @Test
  @DisplayName("CPU is in the columns of its own, a dash where the server's cannot be known")
  void cpu() {
    Line line = new Line("s", "c", "u");
    List.of(new Time(1.5, 2.5), new Time(2.5, 0.5), new Time(2.0, 9.0))
        .forEach(time -> line.ours().add(1, time));
    line.limit().add(1, new Time(Double.NaN, 4.0));
    Report report = new Report(Map.of(), List.of(line), Map.of());
    assertThat(report.markdown().lines().filter(row -> row.startsWith("| s ")).findFirst())
        .hasValueSatisfying(
            row ->
                assertThat(row.split(" *\\| *")).contains("2.00 / -", "2.50 / 4.00", "4.00 / -"));
  }

  @Test
  @DisplayName("the CPU of a load is that of the processes that take part, for a message")
  void load() {
    Ledger<String> ledger = new Ledger<>();
    for (UUID message : List.of(UUID.randomUUID(), UUID.randomUUID())) {
      ledger.committed(message, "k", 1_000_000);
      ledger.published("relay", List.of(message), 3_000_000, 4_000_000);
    }
    Outcome done = Outcome.of(ledger, new Usage(6, 4_000), 2_000);
    assertThat(done.called()).containsExactly(2.0, 2.0);
    assertThat(done.acknowledged()).containsExactly(3.0, 3.0);
    assertThat(done.statements()).isEqualTo(3);
    assertThat(done.cpu()).isEqualTo(new Time(1, 2));
  }

  @Test
  @DisplayName("tenths are told apart, whatever the size of a batch")
  void pace() {
    AtomicLong nanos = new AtomicLong();
    Meter meter = new Meter(100, nanos::get);
    meter.begin();
    nanos.set(6);
    meter.done(35);
    nanos.set(45);
    meter.done(60);
    assertThat(meter.isOver()).isFalse();
    nanos.set(50);
    meter.done(10);
    assertThat(meter.isOver()).isTrue();
    assertThat(meter.total()).isEqualTo(105);
    assertThat(meter.rate(0, 10)).isEqualTo(100 * 1e9 / 50);
    assertThat(meter.rate(0, 3)).isEqualTo(30 * 1e9 / 6);
    assertThat(meter.rate(3, 9)).isEqualTo(60 * 1e9 / 39);
    assertThat(meter.rate(9, 10)).isEqualTo(10 * 1e9 / 5);
  }

  @ParameterizedTest
  @DisplayName("a text counts for the statements in it")
  @CsvSource(
      delimiter = '!',
      value = {
        "select 1                                       ! 1",
        "set a = 1; SET b = 2;                          ! 2",
        "select ';' as \"x\"; values(1)                 ! 2",
        "select 1 /* ; */ -- ;                          ! 1",
      })
  void statements(String sql, int count) {
    assertThat(StatementWatch.statements(sql)).isEqualTo(count);
  }

  @ParameterizedTest
  @DisplayName("numbers have as many digits as say something")
  @CsvSource({
    "'123,457', 123456.7",
    "100, 100.2",
    "12.3, 12.34",
    "1.23, 1.234",
    "0.0123, 0.01234",
    "0, 0"
  })
  void numbers(String text, double value) {
    assertThat(Report.number(value)).isEqualTo(text);
  }

  @Test
  @DisplayName("names and numbers are the same in every country")
  void locale() {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.GERMANY);
    try {
      assertThat(Draining.count(10_000, "key")).isEqualTo("10,000 keys");
      assertThat(Draining.perSecond(2_000)).isEqualTo("2,000/s");
      assertThat(Report.number(1_234)).isEqualTo("1,234");
    } finally {
      Locale.setDefault(before);
    }
  }
}
