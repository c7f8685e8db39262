package dev.outbox.store.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

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
    return (DataSource)
        proxy(
            DataSource.class,
            target,
            result -> result instanceof Connection c ? watch(c) : result,
            () -> null);
  }

  Connection watch(Connection target) {
    return (Connection)
        proxy(
            Connection.class,
            target,
            result -> result instanceof Statement s ? statement(s) : result,
            () -> {
              SQLWarning warnings = target.isClosed() ? null : target.getWarnings();
              if (warnings != null) {
                target.clearWarnings();
              }
              return warnings;
            });
  }

  private Object statement(Statement target) {
    return proxy(
        java.sql.PreparedStatement.class,
        target,
        result -> result,
        () -> {
          SQLWarning warnings = target.isClosed() ? null : target.getWarnings();
          if (warnings != null) {
            target.clearWarnings();
          }
          return warnings;
        });
  }

  private interface Wrap {
    @Nullable Object of(@Nullable Object result);
  }

  private interface Warnings {
    @Nullable SQLWarning get() throws SQLException;
  }

  private Object proxy(Class<?> type, Object target, Wrap wrap, Warnings warnings) {
    return Proxy.newProxyInstance(
        Plans.class.getClassLoader(),
        new Class<?>[] {type},
        (proxy, method, arguments) -> {
          try {
            return wrap.of(method.invoke(target, arguments));
          } catch (InvocationTargetException e) {
            throw e.getCause();
          } finally {
            for (SQLWarning w = warnings.get(); w != null; w = w.getNextWarning()) {
              plans.add(w.getMessage());
            }
          }
        });
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
