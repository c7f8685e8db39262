package dev.outbox.cli;

import dev.outbox.spi.StatisticsStore.Statistics;
import dev.outbox.store.core.Names;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import javax.sql.DataSource;
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
    DataSource dataSource = database.connect();
    JdbcOutboxStore store = tables.store(database.kind(), dataSource);
    store.verify();
    Map<String, @Nullable Object> rows = new LinkedHashMap<>();
    rows.put("schemaVersion", schemaVersion(dataSource));
    addTo(rows, store.statistics());
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

  private int schemaVersion(DataSource dataSource) {
    String table = new Names(tables.schema(), tables.prefix()).table("schema");
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("select version from " + table)) {
      return row.next() ? row.getInt(1) : 0;
    } catch (SQLException e) {
      throw new Failure("the version of the schema cannot be read: " + e.getMessage(), e);
    }
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
