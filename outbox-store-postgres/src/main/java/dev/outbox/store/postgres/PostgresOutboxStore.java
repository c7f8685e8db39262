package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.JdbcOutboxStore;
import javax.sql.DataSource;

/**
 * The outbox on PostgreSQL 14 and newer. The algorithm is {@link JdbcOutboxStore}'s, the statements
 * are in {@code PostgresStatements}, the tables in {@code changelog.sql} beside this class.
 *
 * <p>Append works on the caller's connection. Everything else takes connections from the data
 * source, one at a time for each call, and needs no setting of them: also auto-commit off, another
 * isolation level, {@code synchronous_commit = off}. Behind PgBouncer the driver needs {@code
 * prepareThreshold=0}, for append too; without, both are refused ({@link
 * Builder#poolerKeepsSessions}).
 */
public final class PostgresOutboxStore extends JdbcOutboxStore {

  private PostgresOutboxStore(Builder b) {
    super(b, names -> new PostgresDialect(names, new Pooler(b.poolerKeepsSessions)));
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
    private boolean poolerKeepsSessions;

    private Builder(DataSource dataSource) {
      super(dataSource);
    }

    /**
     * Says that a pooler in front of the server keeps a connection on one server process for as
     * long as it lasts, as PgBouncer does with {@code pool_mode=session}: the driver's prepared
     * statements are then right, and not refused. Default: not; a pooler has to carry prepared
     * statements along itself (PgBouncer 1.21 or newer with {@code max_prepared_statements}), or
     * the driver to do without ({@code prepareThreshold=0}).
     */
    public Builder poolerKeepsSessions() {
      poolerKeepsSessions = true;
      return this;
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
