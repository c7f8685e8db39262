package dev.outbox.store.sqlserver;

import dev.outbox.store.jdbc.JdbcOutboxStore;
import javax.sql.DataSource;

/**
 * The outbox on SQL Server 2019 and newer, and on Azure SQL, with Microsoft's JDBC driver. The
 * algorithm is {@link JdbcOutboxStore}'s, the statements are in {@code SqlServerStatements}, the
 * tables in {@code changelog.sql} beside this class.
 *
 * <p>Append works on the caller's connection, at any isolation level. Everything else takes
 * connections from the data source, one at a time for each call, and needs no setting of them. The
 * database may have READ_COMMITTED_SNAPSHOT on or off: every statement here reads with locks, so it
 * makes no difference.
 *
 * <p>SQL Server ends no transaction because its client is silent. A client that is lost is noticed
 * by TCP after about half a minute; one that is stopped, as by SIGSTOP, in the middle of a claim or
 * settle keeps its buckets until somebody ends its session. {@code docs/design/sqlserver.md} has
 * the query that finds it.
 */
public final class SqlServerOutboxStore extends JdbcOutboxStore {

  private SqlServerOutboxStore(Builder b) {
    super(b, SqlServerDialect::new);
  }

  /** A store with the default names, for relays and for appending. */
  public static SqlServerOutboxStore of(DataSource dataSource) {
    return builder(dataSource).build();
  }

  /** Starts with the defaults that each setter names. */
  public static Builder builder(DataSource dataSource) {
    return new Builder(dataSource);
  }

  /** Not safe for use by many threads. */
  public static final class Builder extends JdbcOutboxStore.Builder<SqlServerOutboxStore, Builder> {

    private Builder(DataSource dataSource) {
      super(dataSource);
    }

    @Override
    public SqlServerOutboxStore build() {
      return new SqlServerOutboxStore(this);
    }

    @Override
    protected Builder self() {
      return this;
    }
  }
}
