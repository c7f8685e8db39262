package dev.outbox.store.postgres;

import dev.outbox.Archive;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.jdbc.internal.SqlDialect;
import java.time.Duration;
import javax.sql.DataSource;

/** The store with another dialect. */
final class VariantStore extends JdbcOutboxStore {
  private static final PrefixedNames NAMES = new PrefixedNames(null, PrefixedNames.DEFAULT_PREFIX);

  VariantStore(DataSource dataSource, SqlDialect dialect) {
    super(PostgresOutboxStore.builder(dataSource), (names, archive) -> dialect);
  }

  /** The dialect that is right. */
  static SqlDialect right() {
    return right(CertifiedSequences.PATIENCE);
  }

  /**
   * The dialect that is right.
   *
   * @param patience before it asks who holds locks
   */
  static SqlDialect right(Duration patience) {
    return PostgresDialect.of(NAMES, new Pooler(false), Archive.NONE, patience);
  }
}
