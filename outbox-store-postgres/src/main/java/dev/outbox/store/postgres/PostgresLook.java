package dev.outbox.store.postgres;

import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Look;
import dev.outbox.store.core.internal.Database.Pending;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.jdbc.internal.MessageRows;
import dev.outbox.store.postgres.CertifiedSequences.Sample;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.transaction.TransactionException;
import org.jspecify.annotations.Nullable;

/**
 * Looks at buckets that are held, without locking them, and says whether what it found is durable:
 * docs/design/holding.md. It is when all of the server's log is on its disk up to where it ended
 * after the look's snapshot. When that is asked again, the same process of the server has to
 * answer, because none outlives a crash, and a log that was lost in one may have grown again. Where
 * a standby has to have the log, only a commit that waits tells.
 */
record PostgresLook(MessageRows rows, Snapshots snapshots) {
  /** One row says what the snapshot has beside messages, also where there are none. */
  private static final String STATEMENT =
      """
      with now as materialized (
        select h.*, pg_backend_pid() as pid, w.written::text as written,
          pg_current_wal_flush_lsn() >= w.written as flushed, ${horizon} as horizon
        from (${history}) h, (select case current_setting('synchronous_standby_names')
          when '' then pg_current_wal_insert_lsn() end as written offset 0) w
      ), held as materialized (
        select l.bucket, case when o.ahead then l.ahead else l.low_water end as low_water,
          l.most, o.ahead, ${due}
        from unnest(?::int[], ?::bigint[], ?::int[], ?::bigint[], ?::bigint[])
            l (bucket, low_water, most, ahead, token)
          cross join lateral (select from ${q}${p}bucket b
            where b.bucket = l.bucket and b.token = l.token and b.claim_id = ?
              and b.lease_until > clock_timestamp()
            offset 0) b
          cross join (select ${allOpen} as ahead offset 0) o
      )
      select m.*, case when h.ahead then now.horizon else 0 end, h.buckets, h.due,
        now.history, now.next, now.pid, now.written, now.flushed
      from (select count(*) as buckets, bool_or(ahead) as ahead, bool_or(scheduled or blocked) as due
          from held) h
        cross join now
        left join (${messages}) m on true
      """
          .replace("${horizon}", PostgresReadText.HORIZON)
          .replace("${due}", PostgresText.due("l.bucket"))
          .replace("${messages}", PostgresReadText.MESSAGES_OF_HELD);

  private static final int BUCKETS = MessageRows.HORIZON + 1;
  private static final int DUE = MessageRows.HORIZON + 2;
  private static final int HISTORY = MessageRows.HORIZON + 3;
  private static final int NEXT = MessageRows.HORIZON + 4;
  private static final int PID = MessageRows.HORIZON + 5;
  private static final int WRITTEN = MessageRows.HORIZON + 6;
  private static final int FLUSHED = MessageRows.HORIZON + 7;

  static final String IS_FLUSHED =
      "select pg_backend_pid() = ? and pg_current_wal_flush_lsn() >= ?::pg_lsn";

  /** When it is asked again. A commit takes a disk a part of a millisecond, or several. */
  private static final List<Duration> PAUSES =
      List.of(Duration.ofNanos(200_000), Duration.ofNanos(400_000), Duration.ofNanos(800_000));

  /**
   * What servers name that have no such log, or do not let everybody ask about it: the function, or
   * the setting that Aurora wants changed. Others fail for now, as a standby.
   */
  private static final Pattern LACKS = Pattern.compile("pg_current_wal_|wal_level");

  /**
   * What the snapshot says beside its messages.
   *
   * @param history what sequences and ids belong to
   * @param next the sequence that comes next
   * @param horizon all transactions with a lower id are over
   * @param pid the process of the server that answered
   * @param written where the log ended; null where its being on the disk does not suffice
   * @param flushed whether the log was on the disk up to there
   */
  private record Moment(
      String history, long next, long horizon, int pid, @Nullable String written, boolean flushed) {
    static Moment of(ResultSet row) throws SQLException {
      return new Moment(
          row.getString(HISTORY),
          row.getLong(NEXT),
          row.getLong(MessageRows.HORIZON),
          row.getInt(PID),
          row.getString(WRITTEN),
          row.getBoolean(FLUSHED));
    }
  }

  private record Found(List<Row> rows, Moment moment) {}

  /** See {@link dev.outbox.store.core.internal.Database.Reads#look}. */
  Optional<Look> at(
      Handle handle, UUID claimId, List<Lease> kept, Limits limits, Set<Long> durable) {
    Sample known = snapshots.certified().known();
    List<Lease> leases =
        kept.stream().map(lease -> lease.with(LowWaterMark.of(lease).knowing(known))).toList();
    try {
      return Optional.of(
          read(handle, claimId, leases, limits)
              .map(found -> look(handle, leases, limits, found, durable))
              .orElseGet(() -> new Look(new Pending(List.of(), List.of()), false, false)));
    } catch (TransactionException e) {
      if (!isLacking(e)) {
        throw e;
      }
      if (isOpen(handle) && handle.isInTransaction()) {
        handle.execute("rollback"); // or else the server refuses to commit it
      }
      return Optional.empty();
    }
  }

  /** Whether this server does not say what is durable. */
  private static boolean isLacking(TransactionException failure) {
    return failure.getCause() instanceof SQLException refused
        && LACKS.matcher(refused.getMessage()).find();
  }

  /** HikariCP closes a connection on which something was not supported. */
  private static boolean isOpen(Handle handle) {
    try {
      return !handle.getConnection().isClosed();
    } catch (SQLException e) {
      throw new TransactionException(e);
    }
  }

  private Look look(
      Handle handle, List<Lease> leases, Limits limits, Found found, Set<Long> durable) {
    Moment moment = found.moment;
    List<Lease> after =
        LowWaterMark.afterRead(
            leases, found.rows, lease -> limits.messages(), snapshots.certified(), moment.horizon);
    // Behind the look, which is sent with the settings that it needs.
    snapshots.ask(handle, LowWaterMark.of(leases.get(0)).sample());
    boolean areDurable =
        moment.flushed
            || found.rows.stream().allMatch(row -> durable.contains(row.sequence()))
            || isFlushedSoon(handle, moment);
    return new Look(new Pending(found.rows, after), true, areDurable);
  }

  /** Nothing when the snapshot does not have all leases as they were, or others are due. */
  private Optional<Found> read(Handle handle, UUID claimId, List<Lease> leases, Limits limits) {
    long share = limits.bytes() / limits.messages();
    return snapshots
        .statements()
        .query(
            handle,
            STATEMENT,
            parameters ->
                PostgresReadText.bindFrom(parameters, leases, lease -> limits.messages())
                    .longs(leases, Lease::token)
                    .add(claimId)
                    .longs(LowWaterMark.Ahead.openOf(leases), Long::longValue)
                    .add(share),
            row -> found(row, leases));
  }

  private Optional<Found> found(ResultSet row, List<Lease> leases) throws SQLException {
    boolean ignored = row.next();
    Moment moment = Moment.of(row);
    if (row.getInt(BUCKETS) < leases.size()
        || row.getBoolean(DUE)
        || !leases.stream()
            .allMatch(lease -> LowWaterMark.of(lease).isOf(moment.history, moment.next))) {
      return Optional.empty();
    }
    List<Row> found = new ArrayList<>();
    boolean isMessage = MessageRows.isMessage(row);
    while (isMessage) {
      Row message = rows.row(row, Status.PENDING);
      if (message == null) {
        return Optional.empty();
      }
      found.add(message);
      isMessage = row.next();
    }
    return Optional.of(new Found(found, moment));
  }

  /** In a transaction its own commit can wait for the disk, and nothing else has to. */
  private boolean isFlushedSoon(Handle handle, Moment moment) {
    String written = moment.written;
    if (written == null || handle.isInTransaction()) {
      return false;
    }
    for (Duration pause : PAUSES) {
      LockSupport.parkNanos(pause.toNanos());
      if (snapshots
          .statements()
          .query(
              handle,
              IS_FLUSHED,
              parameters -> parameters.add(moment.pid).add(written),
              row -> row.next() && row.getBoolean(1))) {
        return true;
      }
    }
    return false;
  }
}
