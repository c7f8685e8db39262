package dev.outbox.dev.bench;

import dev.outbox.dev.bench.Cost.ClientWork;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import net.ttddyy.dsproxy.ExecutionInfo;
import net.ttddyy.dsproxy.QueryInfo;
import net.ttddyy.dsproxy.listener.MethodExecutionContext;
import net.ttddyy.dsproxy.listener.lifecycle.JdbcLifecycleEventListenerAdapter;
import net.ttddyy.dsproxy.support.ProxyDataSourceBuilder;

/**
 * Counts what goes through JDBC: see {@link ClientWork} for what counts as what. Prepared
 * statements count as the statements of their text, each time they are executed. What a pool or a
 * driver does by itself is not seen, as BEGIN, which the drivers send along.
 */
public final class StatementWatch extends JdbcLifecycleEventListenerAdapter {
  private final WorkCounter counter;
  private final Map<String, List<String>> known = new ConcurrentHashMap<>();

  private StatementWatch(WorkCounter counter) {
    this.counter = counter;
  }

  /** The same data source, whose work is counted. */
  public static DataSource watch(DataSource dataSource, WorkCounter counter) {
    return ProxyDataSourceBuilder.create(dataSource).listener(new StatementWatch(counter)).build();
  }

  @Override
  public void beforeMethod(MethodExecutionContext call) {
    String name = call.getMethod().getName();
    if (call.getTarget() instanceof Connection
        && (name.equals("commit") || name.equals("rollback"))) {
      counter.roundTrip();
    }
  }

  /** A batch of a prepared statement has its text once, and the parameters of each entry. */
  @Override
  public void beforeQuery(ExecutionInfo call, List<QueryInfo> texts) {
    for (QueryInfo text : texts) {
      List<String> names = known.computeIfAbsent(text.getQuery(), StatementWatch::names);
      int times = call.isBatch() ? Math.max(1, text.getParametersList().size()) : 1;
      for (int i = 0; i < times; i++) {
        names.forEach(counter::statement);
      }
    }
    counter.roundTrip();
  }

  /** The first word of each statement of a text; semicolons in quotes and comments end none. */
  static List<String> names(String sql) {
    String bare =
        sql.replaceAll("(?s)/\\*.*?\\*/", " ")
            .replaceAll("--[^\\n]*", " ")
            .replaceAll("'[^']*'", "''");
    List<String> names = new ArrayList<>();
    for (String part : bare.split(";", -1)) {
      if (!part.isBlank()) {
        names.add(part.strip().split("\\W", 2)[0].toLowerCase(Locale.ROOT));
      }
    }
    return names;
  }
}
