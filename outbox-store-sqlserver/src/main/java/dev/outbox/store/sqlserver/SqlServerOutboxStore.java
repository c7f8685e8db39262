package dev.outbox.store.sqlserver;

import dev.outbox.store.jdbc.JdbcOutboxStore;
import javax.sql.DataSource;

/**
 * The outbox on SQL Server 2019 and newer, and on Azure SQL, with Microsoft's JDBC driver.
 *
 * <p>What is stored, in tables whose names begin with the prefix, is in {@code
 * docs/sql/outbox-sqlserver.sql}. {@code place} is by what a message is found in its status; a key
 * is compared by its hash; {@code settles} is counted up to lock a bucket's row.
 *
 * <ol>
 *   <li><b>append</b>: dedup keys are taken first, without an error; then one {@code insert} a
 *       message, all in one batch, in the caller's transaction.
 *   <li><b>claim</b>, one transaction. Buckets are read without locks. An {@code update} with
 *       READPAST for each takes those that are free and have work, longest unserved first. The
 *       first messages of each are read twice, because one read that skips locked rows is no
 *       snapshot. What cannot be sent now moves to another status.
 *   <li><b>publish</b>, outside any transaction.
 *   <li><b>settle</b>, one transaction. An {@code update} locks the buckets that claim id and token
 *       still say are ours. Delivered messages are copied to the archive, if there is one, and
 *       deleted; failed ones are changed. Buckets are given back, or kept and read again.
 * </ol>
 *
 * <p>Append works on the caller's connection, at any isolation level. Everything else takes
 * connections from the data source, one at a time for each call, and needs no setting of them. The
 * database may have READ_COMMITTED_SNAPSHOT on or off: every statement here reads with locks, so it
 * makes no difference.
 *
 * <p>SQL Server ends no transaction because its client is silent. TCP notices a client that is lost
 * after about half a minute. One that is stopped in the middle of a claim or settle, as by SIGSTOP,
 * keeps its buckets until somebody ends its session. {@code docs/design/sqlserver.md} has the query
 * that finds it.
 */
public final class SqlServerOutboxStore extends JdbcOutboxStore {

  private SqlServerOutboxStore(PlainBuilder<SqlServerOutboxStore> b) {
    super(b, SqlServerDialect::of);
  }

  /** A store with the default names, for relays and for appending. */
  public static SqlServerOutboxStore of(DataSource dataSource) {
    return builder(dataSource).build();
  }

  /** Starts with the defaults that each setter names. */
  public static PlainBuilder<SqlServerOutboxStore> builder(DataSource dataSource) {
    return new PlainBuilder<>(dataSource, SqlServerOutboxStore::new);
  }
}
