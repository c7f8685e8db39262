package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.JdbcOutboxStore;
import javax.sql.DataSource;

/**
 * The outbox on PostgreSQL 14 and newer. The algorithm is {@link JdbcOutboxStore}'s, the statements
 * are in {@code PostgresStatements}, the tables in {@code changelog.sql} beside this class.
 *
 * <p>Append works on the caller's connection. Everything else takes connections from the data
 * source, one at a time for each call, and needs no setting of them: also auto-commit off, another
 * isolation level, {@code synchronous_commit = off}, or PgBouncer in transaction mode.
 */
public final class PostgresOutboxStore extends JdbcOutboxStore {

  private PostgresOutboxStore(Builder b) {
    super(b, PostgresDialect::new);
  }

  /** A store with the default names, for relays and for appending. */
  public static PostgresOutboxStore of(DataSource dataSource) {
    return builder(dataSource).build();
  }

  /** Starts with the defaults that each setter names. */
  public static Builder builder(DataSource dataSource) {
    return new Builder(dataSource);
  }

  /** Not safe for use by many threads. */
  public static final class Builder extends JdbcOutboxStore.Builder<PostgresOutboxStore, Builder> {

    private Builder(DataSource dataSource) {
      super(dataSource);
    }

    @Override
    public PostgresOutboxStore build() {
      return new PostgresOutboxStore(this);
    }

    @Override
    protected Builder self() {
      return this;
    }
  }
}
