package dev.outbox.dev.bench;

import java.sql.Connection;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import net.ttddyy.dsproxy.ExecutionInfo;
import net.ttddyy.dsproxy.QueryInfo;
import net.ttddyy.dsproxy.listener.MethodExecutionContext;
import net.ttddyy.dsproxy.listener.lifecycle.JdbcLifecycleEventListenerAdapter;
import net.ttddyy.dsproxy.support.ProxyDataSourceBuilder;

/**
 * Counts what goes through JDBC. Statements are counted as they reach the server: each one of a
 * string of several, each entry of a batch, a prepared one each time it is executed; commit and
 * rollback are none. Round trips are calls of the driver that wait for the server: executions, a
 * whole batch as one, commits and rollbacks. What a pool or a driver does by itself is not seen, as
 * BEGIN, which the drivers send along.
 */
public final class StatementWatch extends JdbcLifecycleEventListenerAdapter {
  private final WorkCounter counter;
  private final Map<String, Integer> known = new ConcurrentHashMap<>();

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
      int times = call.isBatch() ? Math.max(1, text.getParametersList().size()) : 1;
      counter.statements(
          times * known.computeIfAbsent(text.getQuery(), StatementWatch::statements));
    }
    counter.roundTrip();
  }

  /** How many a text has; semicolons in quotes and comments end none. */
  static int statements(String sql) {
    String bare =
        sql.replaceAll("(?s)/\\*.*?\\*/", " ")
            .replaceAll("--[^\\n]*", " ")
            .replaceAll("'[^']*'", "''");
    return (int) Arrays.stream(bare.split(";")).filter(part -> !part.isBlank()).count();
  }
}
