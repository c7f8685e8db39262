package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class DrainTest {
  @Test
  @DisplayName("a timeout longer than nanoseconds can be counted waits as long as it takes")
  void longTimeout() {
    Iterator<Statistics> found =
        List.of(
                new Statistics(10, 1, 0, 0, 0, 0, 0, Duration.ofSeconds(1), null, null),
                new Statistics(10, 0, 0, 0, 0, 0, 0, null, null, null))
            .iterator();
    DrainCommand drain = new DrainCommand();
    new CommandLine(drain)
        .setUnmatchedArgumentsAllowed(true)
        .registerConverter(Duration.class, text -> Durations.parse(text).orElseThrow())
        .parseArgs("--timeout=999999999d", "--url=jdbc:none");
    StringWriter out = new StringWriter();
    StatisticsStore store = cap -> found.next();
    assertThat(drain.run(store, new PrintWriter(out, true))).isZero();
    assertThat(out.toString()).startsWith("Nothing is due.");
  }
}
