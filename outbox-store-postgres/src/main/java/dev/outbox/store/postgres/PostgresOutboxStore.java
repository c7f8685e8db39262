package dev.outbox.store.postgres;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.KeepingStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.postgresql.core.TransactionState;

/**
 * The outbox on PostgreSQL 14 and newer.
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
 *                     txid                                    its transaction, for the mark
 * outbox_bucket       bucket, token                           grows each time it changes hands
 *                     claim_id, worker, leased_at, lease_until     while leased or held
 *                     served_at                               whose turn is next
 *                     takeovers, singles                      how often holders did not come back
 *                     low_water, low_water_history, low_water_ahead, ahead_of: its mark
 * outbox_blocked_key  bucket, key, retry_at, halted_by, low_seq
 * outbox_dedup        dedup_key, created_at
 * outbox_pause        aggregate_type, paused_at, who, reason  what operators have paused
 * outbox_schema       version
 *
 * outbox_archive_message  a partition a day; what left, with archived_at, outcome, answer
 * outbox_archive_audit    noted_at, action, who, db_user, reason, seq, message_id
 * outbox_archive_schema   version                             these three where it is kept
 * }</pre>
 *
 * <ol>
 *   <li><b>append</b>: one {@code insert … select} from arrays, in the caller's transaction; with
 *       dedup keys they are taken in the same statement.
 *   <li><b>claim</b>, one transaction. An {@code update} with {@code skip locked} leases free
 *       buckets that have work, longest unserved first. A lateral join reads the first messages of
 *       each from its low-water mark on. What cannot be sent now moves to another status.
 *   <li><b>publish</b>, outside any transaction.
 *   <li><b>settle</b>, one transaction. {@code select … for no key update} locks the buckets that
 *       claim id and token still say are ours. Delivered messages are deleted, or moved to the
 *       archive by the same statement; failed ones are changed. Buckets are given back, or kept and
 *       read again.
 * </ol>
 *
 * <p>Append works on the caller's connection. Everything else takes connections from the data
 * source, one at a time for each call, and needs no setting of them: also auto-commit off, another
 * isolation level, {@code synchronous_commit = off}. Behind PgBouncer the driver needs {@code
 * prepareThreshold=0}, for append too; without, both are refused ({@link
 * Builder#poolerKeepsSessions}).
 */
public final class PostgresOutboxStore extends JdbcOutboxStore implements KeepingStore<Connection> {

  private PostgresOutboxStore(Builder b) {
    super(
        b,
        (names, archive) ->
            PostgresDialect.of(
                names, new Pooler(b.poolerKeepsSessions), archive, CertifiedSequences.PATIENCE));
  }

  /** A store with the default names, for relays and for appending. */
  public static PostgresOutboxStore of(DataSource dataSource) {
    return builder(dataSource).build();
  }

  /** Starts with the defaults that each setter names. */
  public static Builder builder(DataSource dataSource) {
    return new Builder(dataSource);
  }

  @Override
  public Keeper keeper(Duration unclaimed) {
    return keep(unclaimed);
  }

  @Override
  public boolean handsOver() {
    return true;
  }

  @Override
  public Uncommitted append(Keeper keeper, Connection transaction, List<OutboxMessage> messages) {
    return appendToHandOver(keeper, transaction, messages);
  }

  @Override
  public boolean canCommit(Connection transaction) {
    return Pooler.transactionState(transaction)
        .filter(state -> state == TransactionState.OPEN)
        .isPresent();
  }

  /** Not safe for use by many threads. */
  public static final class Builder extends JdbcOutboxStore.Builder<PostgresOutboxStore, Builder> {
    private boolean poolerKeepsSessions;

    private Builder(DataSource dataSource) {
      super(dataSource, PostgresOutboxStore::new);
    }

    /**
     * Says that a pooler in front of the server keeps each connection on one server process, as
     * PgBouncer does with {@code pool_mode=session}: prepared statements are then not refused.
     * Without it the pooler has to carry them along (PgBouncer 1.21 or newer with {@code
     * max_prepared_statements}), or the driver to do without ({@code prepareThreshold=0}).
     */
    public Builder poolerKeepsSessions() {
      poolerKeepsSessions = true;
      return this;
    }
  }
}
