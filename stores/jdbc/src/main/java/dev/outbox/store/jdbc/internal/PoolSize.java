package dev.outbox.store.jdbc.internal;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.util.Map;
import java.util.OptionalInt;
import java.util.WeakHashMap;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Knows HikariCP's limit when HikariCP is there. */
public final class PoolSize {

  /** Of so many connections of a pool one may be a relay's session. */
  private static final int CONNECTIONS_A_SESSION = 4;

  /** How many sessions relays of this process have, for each pool. */
  private static final Map<DataSource, Integer> SESSIONS = new WeakHashMap<>();

  private PoolSize() {}

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
    try {
      return Hikari.pool(dataSource);
    } catch (NoClassDefFoundError e) {
      return null;
    }
  }

  /**
   * @param itself without what wraps it
   * @param size the most connections
   */
  private record Pool(DataSource itself, int size) {}

  /** A class of its own, so that it is only loaded, and only fails, here. */
  private static final class Hikari {
    static @Nullable Pool pool(DataSource dataSource) {
      try {
        if (dataSource.isWrapperFor(HikariDataSource.class)) {
          HikariDataSource pool = dataSource.unwrap(HikariDataSource.class);
          return new Pool(pool, pool.getMaximumPoolSize());
        }
        return null;
      } catch (SQLException | RuntimeException e) { // wrappers need not answer
        return null;
      }
    }
  }
}
