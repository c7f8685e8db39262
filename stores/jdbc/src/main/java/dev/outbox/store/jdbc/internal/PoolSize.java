package dev.outbox.store.jdbc.internal;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
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
      try {
        return dataSource.isWrapperFor(HikariDataSource.class)
            ? OptionalInt.of(dataSource.unwrap(HikariDataSource.class).getMaximumPoolSize())
            : OptionalInt.empty();
      } catch (SQLException | RuntimeException e) { // wrappers need not answer
        return OptionalInt.empty();
      }
    }
  }
}
