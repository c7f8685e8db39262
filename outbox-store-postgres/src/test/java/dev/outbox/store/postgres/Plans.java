package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.Intercepted;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/**
 * The plans of all statements that run through a data source, as the server executed them: its
 * auto_explain tells them as notices.
 */
final class Plans {
  /** What a session has to run first; only a superuser may. */
  static final String INIT =
      """
      load 'auto_explain';
      set auto_explain.log_min_duration = 0;
      set auto_explain.log_level = notice;
      set auto_explain.log_nested_statements = on;
      set auto_explain.log_analyze = on;
      set auto_explain.log_timing = off;
      """;

  /** The server's default: a plan that costs more is compiled. */
  private static final double JIT_ABOVE_COST = 100_000;

  /** Fewer than in a join of all buckets with all. */
  private static final int MOST_REMOVED = 1_000;

  /** Of the giving back of buckets, of which all come at once when a relay ends only. */
  private static final String RELEASES = "Update on outbox_bucket";

  private static final Pattern REMOVED = Pattern.compile("Rows Removed by Join Filter: ([0-9]+)");

  private static final Pattern COST = Pattern.compile("cost=[0-9.]+\\.\\.([0-9.]+) ");

  private final List<String> plans = new ArrayList<>();

  DataSource watch(DataSource target) {
    return Intercepted.of(target, this::call);
  }

  Connection watch(Connection target) {
    return Intercepted.of(target, this::call);
  }

  private Object call(Object target, Method method, Object[] arguments) throws Exception {
    try {
      return method.invoke(target, arguments);
    } finally {
      SQLWarning warnings = null;
      if (target instanceof Connection connection && !connection.isClosed()) {
        warnings = connection.getWarnings();
        connection.clearWarnings();
      } else if (target instanceof Statement statement && !statement.isClosed()) {
        warnings = statement.getWarnings();
        statement.clearWarnings();
      }
      for (SQLWarning w = warnings; w != null; w = w.getNextWarning()) {
        plans.add(w.getMessage());
      }
    }
  }

  /** How many plans there were since it was asked last. */
  int forget() {
    int before = plans.size();
    plans.clear();
    return before;
  }

  /**
   * Those with a node that the planner would not take if it had another, that are compiled, or that
   * compare each row of one list with each of another.
   */
  List<String> bad() {
    return plans.stream().filter(Plans::isBad).distinct().toList();
  }

  private static boolean isBad(String plan) {
    return plan.contains("Disabled: true")
        || !plan.contains(RELEASES)
            && REMOVED
                .matcher(plan)
                .results()
                .anyMatch(r -> Integer.parseInt(r.group(1)) > MOST_REMOVED)
        || COST.matcher(plan)
            .results()
            .anyMatch(c -> Double.parseDouble(c.group(1)) > JIT_ABOVE_COST);
  }

  /** Those of the statements with this text. */
  List<String> of(String text) {
    return plans.stream().filter(plan -> plan.contains(text)).toList();
  }
}
