package dev.outbox.store.postgres;

import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.Database.Block;
import dev.outbox.store.core.internal.Database.Key;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.core.internal.Row.OfMessage;
import dev.outbox.store.jdbc.internal.JdbcBatches;
import dev.outbox.store.jdbc.internal.SqlWrites;
import dev.outbox.store.postgres.BatchStatements.Binder;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.transaction.TransactionException;

/** The statements that delete and change messages, and those that block keys. */
final class PostgresWrites extends SqlWrites {
  private static final String MOVE_TO_BLOCKED =
      "update ${q}${p}message set status = 'BLOCKED'"
          + " where ${these} and status in ('PENDING', 'SCHEDULED')";

  private static final String MOVE_TO_SCHEDULED =
      "update ${q}${p}message set status = 'SCHEDULED' where ${these} and status = 'PENDING'";

  private static final String COUNT =
      "update ${q}${p}message set attempts = greatest(0, least(attempts, 2147483646) + ?)"
          + " where ${these} and status in ('PENDING', 'SCHEDULED', 'BLOCKED')";

  private static final String DELETE = "delete from ${q}${p}message m where ${these}";

  /**
   * Deletes nothing when a transaction has ended that was open when the ranges were made: it may
   * have committed a row between them. The rows are looked up first, by range: in a join the
   * planner may read all PENDING rows, which it takes for few after an ANALYZE of an outbox that
   * was empty.
   */
  private static final String DELETE_RANGES =
      """
      delete from ${q}${p}message m
      where m.ctid = any(array(
          select d.place from unnest(?::int[], ?::bigint[], ?::bigint[]) r (bucket, lowest, highest)
          cross join lateral (
            select d.ctid as place from ${q}${p}message d
            where d.bucket = r.bucket and d.status = 'PENDING'
              and d.seq + 0 between r.lowest and r.highest
            offset 0
          ) d))
        and (m.status = 'PENDING') is true
        and (select ${allOpen})
      """;

  private static final String FAIL =
      """
      update ${q}${p}message set
        status = :status, attempts = :attemptsAfter, last_error = :error,
        last_failed_at = statement_timestamp()
      where bucket = :bucket and seq = :seq and id = :id and attempts = :attempts
        and case when available_at is not null then
            least(greatest(available_at, '0001-01-01 00:00:00+00'), '9999-12-31 23:59:59.999999+00')
          end is not distinct from cast(:availableAt as timestamp) at time zone 'UTC'
        and status in ('PENDING', 'SCHEDULED', 'BLOCKED')
      """;

  private static final String BLOCK =
      """
      insert into ${q}${p}blocked_key as k (bucket, key, retry_at, halted_by, low_seq)
      values (:bucket, :key, statement_timestamp() + :delayMillis * interval '1 millisecond',
        case when :halted then :seq end, :lowSeq)
      on conflict (bucket, key) do update set
        retry_at = excluded.retry_at,
        halted_by = coalesce(excluded.halted_by, k.halted_by),
        low_seq = least(k.low_seq, excluded.low_seq)
      """;

  private static final String LOWER =
      "update ${q}${p}blocked_key set low_seq = :seq"
          + " where bucket = :bucket and key = :key and low_seq > :seq";

  private static final String ADVANCE =
      """
      update ${q}${p}blocked_key k set
        retry_at = statement_timestamp(),
        low_seq = coalesce(
          (select min(m.seq + 0) from ${q}${p}message m
           where m.bucket = k.bucket and m.status = 'BLOCKED'
             and ${messageKey} = k.key and m.seq + 0 >= k.low_seq),
          k.low_seq)
      where k.bucket = :bucket and k.key = :key and k.halted_by is null
      """;

  private static final String FREE_KEY =
      """
      delete from ${q}${p}blocked_key k
      where k.bucket = :bucket and k.key = :key and k.halted_by is null
        and not exists (select from ${q}${p}message m
          where m.bucket = k.bucket and m.status = 'BLOCKED'
            and ${messageKey} = k.key and m.seq + 0 >= k.low_seq)
      """;

  /** After a range held other messages than were delivered, so many deletes go by message. */
  private static final int EXACT_DELETES = 100;

  private final BatchStatements statements;
  private final String deleteRanges;
  private final String deleteThese;

  /** How many deletes are still to be made message by message. */
  private final AtomicInteger exactDeletes = new AtomicInteger();

  PostgresWrites(BatchStatements statements, PostgresArchive archive) {
    super(
        new Texts(MOVE_TO_BLOCKED, MOVE_TO_SCHEDULED, COUNT, FAIL, LOWER), archive.keepsArchive());
    this.statements = statements;
    deleteRanges = deleting(archive, DELETE_RANGES);
    deleteThese = deleting(archive, DELETE);
  }

  /** With an archive, a query that moves messages there and says how many. */
  private static String deleting(PostgresArchive archive, String delete) {
    return archive.keepsArchive()
        ? "with " + archive.moving(delete) + " select count(*) from deleted"
        : delete;
  }

  /** One statement for all buckets: the rows are found by the primary key. */
  @Override
  protected int forRows(
      Handle handle, String sql, Collection<? extends OfMessage> rows, Map<String, ?> more) {
    return statements.update(
        handle,
        sql,
        parameters -> {
          for (Object value : more.values()) {
            parameters.add((Integer) value);
          }
          PostgresText.these(parameters, rows);
        });
  }

  /**
   * Deletes the messages in front of each bucket as a range, where no other message can come in
   * between. Most messages are of that kind, and it costs half. A range may hold another number of
   * messages than were delivered: somebody changed rows by hand, a settle is repeated, or a
   * transaction that stayed open is over. Then the transaction is rolled back and run again, and
   * deletes message by message.
   */
  @Override
  public List<Lease> delete(
      Handle handle, Collection<Lease> leases, Collection<Claimable> delivered) {
    boolean byRange = exactDeletes.getAndUpdate(left -> Math.max(0, left - 1)) == 0;
    int[] inFront = LowWaterMark.inFront(leases, delivered);
    List<Range> ranges = new ArrayList<>();
    Set<Long> open = Set.of();
    long[] upTo = new long[Database.BUCKETS];
    Arrays.fill(upTo, Long.MIN_VALUE);
    List<Lease> after = new ArrayList<>();
    for (Lease lease : leases) {
      LowWaterMark mark = LowWaterMark.of(lease);
      int messages = inFront[lease.bucket()];
      after.add(lease.with(mark.afterDelete(messages)));
      OptionalLong last = byRange ? mark.certifiedUpTo(messages) : OptionalLong.empty();
      if (last.isPresent()) {
        ranges.add(new Range(lease.bucket(), mark.ahead().low(), last.getAsLong(), messages));
        open = LowWaterMark.Ahead.both(open, mark.read().below().open());
        upTo[lease.bucket()] = last.getAsLong();
      }
    }
    delete(handle, ranges, open, delivered);
    List<Claimable> rest = new ArrayList<>();
    for (Claimable row : delivered) {
      if (row.status() != Status.PENDING || row.sequence() > upTo[row.bucket()]) {
        rest.add(row);
      }
    }
    boolean found =
        rest.isEmpty()
            || delete(handle, deleteThese, parameters -> PostgresText.these(parameters, rest), rest)
                == rest.size();
    return found ? after : List.copyOf(leases);
  }

  private record Range(int bucket, long lowest, long highest, int messages) {}

  /** Returns how many were deleted. */
  private int delete(Handle handle, String sql, Binder binder, Collection<Claimable> delivered) {
    return !archives()
        ? statements.update(handle, sql, binder)
        : statements.query(
            handle,
            sql,
            parameters -> {
              binder.bind(parameters);
              PostgresArchive.bind(parameters, delivered);
            },
            row -> row.next() ? row.getInt(1) : 0);
  }

  private void delete(
      Handle handle, List<Range> ranges, Set<Long> open, Collection<Claimable> delivered) {
    if (ranges.isEmpty()) {
      return;
    }
    int expected = ranges.stream().mapToInt(Range::messages).sum();
    int deleted =
        delete(
            handle,
            deleteRanges,
            parameters ->
                parameters
                    .integers(ranges, Range::bucket)
                    .longs(ranges, Range::lowest)
                    .longs(ranges, Range::highest)
                    .longs(open, Long::longValue),
            delivered);
    if (deleted != expected) {
      exactDeletes.set(EXACT_DELETES);
      throw new TransactionException(
          new SQLException(
              "%s messages were to be deleted, %s were".formatted(expected, deleted), "40001"));
    }
  }

  @Override
  public void block(Handle handle, List<Block> blocks) {
    int[] ignored = JdbcBatches.run(handle, BLOCK, blocks, JdbcBatches::bind);
  }

  @Override
  public void advance(Handle handle, Collection<Key> keys) {
    JdbcBatches.forKeys(handle, FREE_KEY, keys);
    JdbcBatches.forKeys(handle, ADVANCE, keys);
  }
}
