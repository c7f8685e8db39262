package dev.outbox.store.postgres;

import dev.outbox.spi.store.Claim;
import dev.outbox.store.core.internal.Administration;
import dev.outbox.store.core.internal.Database.Leases;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Pending;
import dev.outbox.store.core.internal.Database.Reads;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.postgres.CertifiedSequences.Beside;
import dev.outbox.store.postgres.CertifiedSequences.Sample;
import dev.outbox.store.postgres.LowWaterMark.Read;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;

/** Dialects that move a bucket's low-water mark by other rules than {@link LowWaterMark}'s. */
final class WrongLowWaterMarks {
  private WrongLowWaterMarks() {}

  private static long number(Handle handle, String sql) {
    return handle.createQuery(sql).mapTo(Long.class).one();
  }

  /**
   * Moves the marks as {@link LowWaterMark} does, with something else that is certified for a read.
   */
  abstract static class Otherwise extends Variant {

    /**
     * @param sample of the transaction that reads
     */
    abstract long below(Handle handle, Sample sample);

    @Override
    Pending readPending(Reads<Handle> right, Handle handle, List<Lease> leases, Limits limits) {
      List<Row> rows = super.readPending(right, handle, leases, limits).rows();
      return new Pending(
          rows, leases.stream().map(lease -> after(handle, lease, rows, limits)).toList());
    }

    private Lease after(Handle handle, Lease lease, List<Row> rows, Limits limits) {
      long[] found =
          rows.stream()
              .filter(row -> row.bucket() == lease.bucket())
              .mapToLong(Row::sequence)
              .sorted()
              .toArray();
      LowWaterMark mark = LowWaterMark.of(lease);
      long below = below(handle, mark.sample());
      int most = lease.single() ? 1 : limits.messages();
      return lease.with(mark.afterRead(found, most, Math.max(below, mark.sample().below())));
    }
  }

  /** The transaction's id is older than the sample, and writers may have come between. */
  static final class IdBeforeSample extends Otherwise {
    private long id;

    @Override
    List<Lease> lease(
        Leases<Handle> right, Handle handle, UUID claimId, Claim.Request request, int most) {
      id = number(handle, "select pg_current_xact_id()::text::bigint");
      return super.lease(right, handle, claimId, request, most);
    }

    @Override
    long below(Handle handle, Sample sample) {
      long horizon =
          number(
              handle,
              "select case x when pg_current_xact_id() then x::text::bigint + 1 else"
                  + " x::text::bigint end from pg_snapshot_xmin(pg_current_snapshot()) x");
      return id < horizon ? sample.next() : 0;
    }
  }

  /** Certified by the snapshot of a statement that came after the read. */
  static final class LaterHorizon extends Otherwise {
    @Override
    long below(Handle handle, Sample sample) {
      boolean alone =
          number(
                  handle,
                  "select count(*) from pg_snapshot_xmin(pg_current_snapshot()) x where x ="
                      + " pg_current_xact_id()")
              > 0;
      return alone ? sample.next() : 0;
    }
  }

  /** Begins ahead, whoever of the transactions that were open is over. */
  static final class AheadWhoeverIsOver extends Variant {
    @Override
    List<Lease> lease(
        Leases<Handle> right, Handle handle, UUID claimId, Claim.Request request, int most) {
      return super.lease(right, handle, claimId, request, most).stream()
          .map(lease -> lease.with(ahead(LowWaterMark.of(lease))))
          .toList();
    }

    private static LowWaterMark ahead(LowWaterMark mark) {
      return LowWaterMark.stored(mark.ahead().low(), mark.sample());
    }
  }

  /** Begins ahead where, a statement before the read, all that were open were so still. */
  static final class AheadAsSeenBefore extends Variant {
    @Override
    Pending readPending(Reads<Handle> right, Handle handle, List<Lease> leases, Limits limits) {
      return super.readPending(
          right,
          handle,
          leases.stream().map(l -> l.with(seen(handle, LowWaterMark.of(l)))).toList(),
          limits);
    }

    private static LowWaterMark seen(Handle handle, LowWaterMark mark) {
      String ids =
          mark.ahead().open().stream().map(String::valueOf).collect(Collectors.joining(","));
      long over =
          number(
              handle,
              "select count(*) from unnest('{%s}'::bigint[]) x where pg_visible_in_snapshot(x::text::xid8, pg_current_snapshot())"
                  .formatted(ids));
      return over == 0 ? AheadWhoeverIsOver.ahead(mark) : mark.withoutAhead();
    }
  }

  /** Deletes ranges, whoever of the transactions that they stand beside is over. */
  static final class RangeWhoeverIsOver extends Variant {
    @Override
    Pending readPending(Reads<Handle> right, Handle handle, List<Lease> leases, Limits limits) {
      Pending read = super.readPending(right, handle, leases, limits);
      return new Pending(
          read.rows(),
          read.leases().stream().map(lease -> lease.with(beside(LowWaterMark.of(lease)))).toList());
    }

    private static LowWaterMark beside(LowWaterMark mark) {
      Read read = mark.read();
      Beside nobody = new Beside(read.below().below(), Set.of());
      return new LowWaterMark(
          mark.low(),
          mark.ahead(),
          mark.sample(),
          new Read(read.sequences(), read.passed(), read.ahead(), nobody));
    }
  }

  /** Certified at once, whoever runs. */
  static final class NoHorizon extends Otherwise {
    @Override
    long below(Handle handle, Sample sample) {
      return sample.next();
    }
  }

  /** A dead letter becomes PENDING again, at its place. */
  static final class RequeueToPending extends Variant {
    @Override
    Set<Long> requeue(Administration<Handle> right, Handle handle, long sequence)
        throws SQLException {
      Set<Long> done = super.requeue(right, handle, sequence);
      handle.execute(
          "update outbox_message set status = 'PENDING', available_at = null where seq = ?",
          sequence);
      return done;
    }
  }
}
