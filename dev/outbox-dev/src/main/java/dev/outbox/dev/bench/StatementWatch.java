package dev.outbox.dev.bench;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import javax.sql.DataSource;
import net.ttddyy.dsproxy.ExecutionInfo;
import net.ttddyy.dsproxy.QueryInfo;
import net.ttddyy.dsproxy.support.ProxyDataSourceBuilder;

/**
 * Counts statements that go through JDBC, as they reach the server: each one of a string of
 * several, each entry of a batch, a prepared one each time it is executed; commit and rollback are
 * none. What a pool or a driver does by itself is not seen, as BEGIN, which the drivers send along.
 */
public final class StatementWatch {
  private StatementWatch() {}

  /** The same data source, whose statements are counted. Counting is not free. */
  public static DataSource watch(DataSource dataSource, LongAdder counter) {
    Map<String, Integer> known = new ConcurrentHashMap<>();
    return ProxyDataSourceBuilder.create(dataSource)
        .afterQuery((call, texts) -> texts.forEach(text -> counter.add(count(call, text, known))))
        .build();
  }

  /** A batch of a prepared statement has its text once, and the parameters of each entry. */
  private static int count(ExecutionInfo call, QueryInfo text, Map<String, Integer> known) {
    int times = call.isBatch() ? Math.max(1, text.getParametersList().size()) : 1;
    return times * known.computeIfAbsent(text.getQuery(), StatementWatch::statements);
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
