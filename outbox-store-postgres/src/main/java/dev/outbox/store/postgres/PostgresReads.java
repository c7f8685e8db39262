package dev.outbox.store.postgres;

import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Look;
import dev.outbox.store.core.internal.Database.Pending;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.jdbc.internal.MessageRows;
import dev.outbox.store.jdbc.internal.SqlReads;
import dev.outbox.store.postgres.BatchStatements.Parameters;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/** The statements that read messages, from each bucket's {@link LowWaterMark} on. */
final class PostgresReads extends SqlReads {
  /** The head is read first by itself: whether it failed before says how many come with it. */
  private static final String READ_BLOCKED =
      """
      select * from (
      select m.*, d.bucket as due_bucket, d.key as due_key, d.low_seq as due_low_seq, d.retry_at,
        sum(coalesce(octet_length(m.payload), 0))
          over (partition by d.bucket order by d.retry_at, d.key, m.seq)
          - coalesce(octet_length(m.payload), 0) as bytes_before
      from unnest(?::int[], ?::bigint[], ?::int[]) l (bucket, low_water, most)
      cross join lateral (
        select k.*, count(*) over () as due
        from (
          select * from ${q}${p}blocked_key k
          where k.bucket = l.bucket and k.halted_by is null and k.retry_at <= statement_timestamp()
          order by k.retry_at
          limit l.most
        ) k
      ) d
      left join lateral (
        select m.seq, m.last_failed_at is not null as failed
        from ${q}${p}message m
        where m.bucket = d.bucket and m.status = 'BLOCKED'
          and ${messageKey} = d.key and m.seq + 0 >= d.low_seq
        order by m.seq + 0
        limit 1
      ) head on true
      left join lateral (
        select ${columns}
        from ${q}${p}message m
        where m.bucket = d.bucket and m.status = 'BLOCKED'
          and ${messageKey} = d.key and m.seq + 0 >= head.seq
        order by m.seq + 0
        limit case when head.failed then 1 else greatest(1, l.most / d.due) end
      ) m on true
      ) due
      where bytes_before < ?
      order by due_bucket, retry_at, due_key, seq
      """;

  private final BatchStatements statements;
  private final CertifiedSequences certified;
  private final Snapshots snapshots;
  private final PostgresLook look;

  PostgresReads(MessageRows rows, BatchStatements statements, CertifiedSequences certified) {
    super(rows);
    this.statements = statements;
    this.certified = certified;
    snapshots = new Snapshots(statements, certified);
    look = new PostgresLook(rows, snapshots);
  }

  @Override
  public Pending readPending(Handle handle, List<Lease> leases, Limits limits) {
    Found found = read(handle, Status.PENDING, leases, limits);
    return new Pending(
        found.rows(),
        LowWaterMark.afterRead(leases, found.rows(), found.most(), certified, found.horizon()));
  }

  @Override
  public Optional<Look> look(
      Handle handle, UUID claimId, List<Lease> leases, Limits limits, Set<Long> durable) {
    return look.at(handle, claimId, leases, limits, durable);
  }

  @Override
  protected <R> R select(Handle handle, Wanted wanted, long bytes, Reader<R> reader) {
    snapshots.ask(handle, LowWaterMark.of(wanted.leases().get(0)).sample());
    return statements.query(
        handle,
        wanted.status() == Status.PENDING
            ? PostgresReadText.READ_PENDING
            : PostgresReadText.READ_SCHEDULED,
        parameters -> bind(parameters.add(bytes), wanted),
        reader);
  }

  private static void bind(Parameters parameters, Wanted wanted) throws SQLException {
    if (wanted.status() == Status.PENDING) {
      PostgresReadText.bindPending(parameters, wanted.leases(), wanted.most());
    } else {
      PostgresReadText.bind(parameters, wanted.leases(), wanted.most());
    }
  }

  @Override
  protected <R> R sizes(Handle handle, Wanted wanted, Reader<R> reader) {
    return statements.query(
        handle,
        wanted.status() == Status.PENDING
            ? PostgresReadText.SIZES_PENDING
            : PostgresReadText.SIZES_SCHEDULED,
        parameters -> bind(parameters, wanted),
        reader);
  }

  @Override
  public List<Row> readBlocked(Handle handle, List<Lease> leases, Limits limits) {
    return statements.query(
        handle,
        READ_BLOCKED,
        parameters -> PostgresReadText.bind(parameters, leases, most(limits)).add(limits.bytes()),
        row -> {
          List<Row> found = new ArrayList<>();
          while (row.next()) {
            found.add(rows.blocked(row));
          }
          return found;
        });
  }
}
