package dev.outbox.store.mysql;

import dev.outbox.store.jdbc.JdbcOutboxStore;
import javax.sql.DataSource;

/**
 * The outbox on MySQL 8.0.19 and newer. The algorithm is {@link JdbcOutboxStore}'s, the statements
 * are in {@code MysqlStatements}, the tables in {@code changelog.sql} beside this class.
 *
 * <p>Append works on the caller's connection, at its isolation level; it changes what {@code
 * LAST_INSERT_ID()} says there. Everything else takes connections from the data source, one at a
 * time for each call, and needs no setting of them; what it sets for its transactions it puts back.
 */
public final class MysqlOutboxStore extends JdbcOutboxStore {

  private MysqlOutboxStore(Builder b) {
    super(b, names -> new MysqlDialect(names, Flavor.MYSQL));
  }

  /** A store with the default names, for relays and for appending. */
  public static MysqlOutboxStore of(DataSource dataSource) {
    return builder(dataSource).build();
  }

  /** Starts with the defaults that each setter names. */
  public static Builder builder(DataSource dataSource) {
    return new Builder(dataSource);
  }

  /** Not safe for use by many threads. */
  public static final class Builder extends JdbcOutboxStore.Builder<MysqlOutboxStore, Builder> {

    private Builder(DataSource dataSource) {
      super(dataSource);
    }

    @Override
    public MysqlOutboxStore build() {
      return new MysqlOutboxStore(this);
    }

    @Override
    protected Builder self() {
      return this;
    }
  }
}
