package dev.outbox.store.jdbc.internal;

import com.zaxxer.hikari.HikariDataSource;
import java.util.OptionalInt;
import javax.sql.DataSource;

/** Knows HikariCP's limit when HikariCP is there. */
public final class PoolSize {
  private PoolSize() {}

  public static OptionalInt of(DataSource dataSource) {
    try {
      return Hikari.size(dataSource);
    } catch (NoClassDefFoundError e) {
      return OptionalInt.empty();
    }
  }

  /** A class of its own, so that it is only loaded, and only fails, here. */
  private static final class Hikari {
    static OptionalInt size(DataSource dataSource) {
      return dataSource instanceof HikariDataSource pool
          ? OptionalInt.of(pool.getMaximumPoolSize())
          : OptionalInt.empty();
    }
  }
}
