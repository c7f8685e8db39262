package dev.outbox.cli;

import dev.outbox.spi.StatisticsStore.Statistics;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "status",
    mixinStandardHelpOptions = true,
    description = "Check the schema and count what waits. Reads the whole backlog.")
final class StatusCommand implements Callable<Integer> {
  @Mixin
  @SuppressWarnings("NullAway.Init") // set by picocli
  private DatabaseOptions database;

  @Mixin private final DatabaseOptions.Tables tables = new DatabaseOptions.Tables();

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Spec
  @SuppressWarnings("NullAway.Init") // set by picocli
  private CommandSpec spec;

  @Override
  public Integer call() {
    Logs.off();
    Map<String, @Nullable Object> rows = new LinkedHashMap<>();
    try (Database connected = database.connect(tables)) {
      var store = connected.store();
      store.verify();
      rows.put("schemaVersion", connected.schemaVersion());
      addTo(rows, store.statistics());
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(
          rows.entrySet().stream()
              .map(e -> "\"" + e.getKey() + "\": " + e.getValue())
              .collect(Collectors.joining(", ", "{", "}")));
    } else {
      rows.forEach((name, value) -> out.printf("%-22s %s%n", name, value == null ? "-" : value));
    }
    return 0;
  }

  private static void addTo(Map<String, @Nullable Object> rows, Statistics statistics) {
    rows.put("pending", statistics.pending());
    rows.put("scheduled", statistics.scheduled());
    rows.put("blocked", statistics.blocked());
    rows.put("dead", statistics.dead());
    rows.put("blockedKeys", statistics.blockedKeys());
    rows.put("haltedKeys", statistics.haltedKeys());
    Duration oldest = statistics.oldestPending();
    rows.put("oldestPendingSeconds", oldest == null ? null : oldest.toMillis() / 1000.0);
  }
}
