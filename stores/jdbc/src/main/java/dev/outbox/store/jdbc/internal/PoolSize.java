package dev.outbox.store.jdbc.internal;

import java.lang.reflect.Method;
import java.sql.SQLException;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.WeakHashMap;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Knows the limits of the pools that applications have. */
public final class PoolSize {

  /** Of so many connections of a pool one may be a relay's session. */
  private static final int CONNECTIONS_A_SESSION = 4;

  /**
   * How each type of pool is asked for its limit: one method after the other. A native image has
   * them by {@code reflect-config.json}.
   */
  static final Map<String, String> LIMITS =
      Map.of(
          "com.zaxxer.hikari.HikariDataSource", "getMaximumPoolSize",
          "org.apache.tomcat.jdbc.pool.DataSourceProxy", "getMaxActive",
          "org.apache.tomcat.dbcp.dbcp2.BasicDataSource", "getMaxTotal",
          "org.apache.commons.dbcp2.BasicDataSource", "getMaxTotal",
          "io.agroal.api.AgroalDataSource", "getConfiguration connectionPoolConfiguration maxSize",
          "com.mchange.v2.c3p0.ComboPooledDataSource", "getMaxPoolSize",
          "org.vibur.dbcp.ViburDBCPDataSource", "getPoolMaxSize",
          "com.alibaba.druid.pool.DruidDataSource", "getMaxActive",
          "com.atomikos.jdbc.AtomikosDataSourceBean", "getMaxPoolSize");

  /** How many sessions relays of this process have, for each pool. */
  private static final Map<DataSource, Integer> SESSIONS = new WeakHashMap<>();

  private PoolSize() {}

  /** Empty: it has no limit, or it is a pool that is not known here. */
  public static OptionalInt of(DataSource dataSource) {
    Pool pool = pool(dataSource);
    return pool == null ? OptionalInt.empty() : OptionalInt.of(pool.size());
  }

  /**
   * Reserves a connection that a relay keeps for good, unless too few would be left for all others:
   * many outboxes may share a pool, and the application too.
   *
   * @return whether it may be taken; if so, to be given back with {@link #giveBackSession}
   */
  static boolean reserveSession(DataSource dataSource) {
    Pool pool = pool(dataSource);
    if (pool == null) {
      return true;
    }
    synchronized (SESSIONS) {
      int sessions = SESSIONS.getOrDefault(pool.itself(), 0) + 1;
      boolean fits = sessions * CONNECTIONS_A_SESSION <= pool.size();
      if (fits) {
        SESSIONS.put(pool.itself(), sessions);
      }
      return fits;
    }
  }

  static void giveBackSession(DataSource dataSource) {
    Pool pool = pool(dataSource);
    if (pool != null) {
      synchronized (SESSIONS) {
        SESSIONS.computeIfPresent(
            pool.itself(), (key, sessions) -> sessions > 1 ? sessions - 1 : null);
      }
    }
  }

  private static @Nullable Pool pool(DataSource dataSource) {
    return LIMITS.entrySet().stream()
        .map(limit -> pool(dataSource, limit.getKey(), limit.getValue()))
        .filter(Objects::nonNull)
        .findAny()
        .orElse(null);
  }

  private static @Nullable Pool pool(DataSource dataSource, String type, String methods) {
    try {
      Class<?> pool = Class.forName(type, false, PoolSize.class.getClassLoader());
      boolean wraps = !pool.isInstance(dataSource); // Tomcat's deny that they are themselves
      if (wraps && !dataSource.isWrapperFor(pool)) {
        return null;
      }
      Object itself = wraps ? dataSource.unwrap(pool) : dataSource;
      Object answer = itself;
      Class<?> asked = pool;
      for (String name : methods.split(" ")) {
        Method method = asked.getMethod(name);
        answer = method.invoke(answer);
        asked = method.getReturnType();
      }
      int size = (Integer) answer;
      return size > 0 ? new Pool((DataSource) itself, size) : null;
    } catch (ReflectiveOperationException | LinkageError | SQLException | RuntimeException e) {
      return null; // not on the class path, or a wrapper that does not answer
    }
  }

  /**
   * @param itself without what wraps it
   * @param size the most connections
   */
  private record Pool(DataSource itself, int size) {}
}
