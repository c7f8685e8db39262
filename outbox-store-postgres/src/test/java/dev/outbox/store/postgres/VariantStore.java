package dev.outbox.store.postgres;

import dev.outbox.store.core.internal.Names;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.jdbc.internal.SqlDialect;
import java.time.Duration;
import javax.sql.DataSource;

/** The store with another dialect. */
final class VariantStore extends JdbcOutboxStore {
  private static final Names NAMES = new Names(null, Names.DEFAULT_PREFIX);

  VariantStore(DataSource dataSource, SqlDialect dialect) {
    super(dataSource, NAMES, DEFAULT_DEDUP_WINDOW, names -> dialect);
  }

  /** The dialect that is right. */
  static SqlDialect right() {
    return right(Certified.PATIENCE);
  }

  /**
   * The dialect that is right.
   *
   * @param patience before it asks who holds locks
   */
  static SqlDialect right(Duration patience) {
    return new PostgresDialect(NAMES, new Pooler(false), patience);
  }
}
