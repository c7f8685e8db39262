package dev.outbox.store.sqlserver;

import dev.outbox.store.jdbc.JdbcOutboxStore;
import javax.sql.DataSource;

/**
 * The outbox on SQL Server 2019 and newer, and on Azure SQL, with Microsoft's JDBC driver.
 *
 * <p>What is stored, in tables whose names begin with the prefix:
 *
 * <pre>{@code
 * outbox_message      seq                                     its place in the order, by the database
 *                     bucket, status                          where it stands: PENDING, SCHEDULED, …
 *                     id, aggregate_type, aggregate_id, event_type, partition_key,
 *                     payload, content_type, headers, dedup_key, correlation_id, created_at
 *                     available_at, expires_at, max_attempts  where given
 *                     attempts, last_error, last_failed_at    when it failed
 *                     message_key, key_hash                   the key and what it is compared by
 *                     place                                   by what it is found in its status
 * outbox_bucket       bucket, token                           grows each time it changes hands
 *                     claim_id, worker, leased_at, lease_until     while leased
 *                     served_at                               whose turn is next
 *                     takeovers, singles                      how often holders did not come back
 *                     settles                                 counted up to lock the row
 * outbox_blocked_key  bucket, message_key, key_hash, retry_at, halted_by, low_seq
 * outbox_dedup        dedup_key, created_at
 * outbox_pause        aggregate_type, type_hash, paused_at, who, reason
 * outbox_schema       version
 *
 * outbox_archive_message  what left, with archived_at, outcome, answer
 * outbox_archive_audit    noted_at, action, who, db_user, reason, seq, message_id
 * outbox_archive_schema   version                             these three where it is kept
 * }</pre>
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
