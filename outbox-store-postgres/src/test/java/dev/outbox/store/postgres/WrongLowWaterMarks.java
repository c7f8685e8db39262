package dev.outbox.store.postgres;

import dev.outbox.spi.store.Claim;
import dev.outbox.store.core.internal.Database.Administration;
import dev.outbox.store.core.internal.Database.Leases;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Pending;
import dev.outbox.store.core.internal.Database.Reads;
import dev.outbox.store.core.internal.Database.Writes;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.postgres.CertifiedSequences.Beside;
import dev.outbox.store.postgres.CertifiedSequences.Sample;
import dev.outbox.store.postgres.LowWaterMark.Read;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.LongSummaryStatistics;
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
     * @param highest sequence that it read, or 0
     */
    abstract long below(Handle handle, Sample sample, long highest);

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
      long highest = Arrays.stream(found).max().orElse(0);
      long below = below(handle, mark.sample(), highest);
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
    long below(Handle handle, Sample sample, long highest) {
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
    long below(Handle handle, Sample sample, long highest) {
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
    long below(Handle handle, Sample sample, long highest) {
      return sample.next();
    }
  }

  /** Passes what was read, certified or not. */
  static final class WhatWasRead extends Otherwise {
    @Override
    long below(Handle handle, Sample sample, long highest) {
      return highest + 1;
    }
  }

  /** Deletes from the first to the last message that was delivered, whatever is certified. */
  static class RangeOfWhatWasRead extends Variant {
    boolean counts() {
      return true;
    }

    @Override
    List<Lease> delete(
        Writes<Handle> right,
        Handle handle,
        Collection<Lease> leases,
        Collection<Claimable> delivered) {
      LongSummaryStatistics range = delivered.stream().mapToLong(Row::sequence).summaryStatistics();
      handle.execute("savepoint before_the_range");
      int deleted =
          handle.execute(
              "delete from outbox_message where status = 'PENDING' and seq between ? and ?",
              range.getMin(),
              range.getMax());
      if (counts() && deleted != delivered.size()) {
        handle.execute("rollback to savepoint before_the_range");
        return super.delete(right, handle, leases, delivered);
      }
      return List.copyOf(leases);
    }
  }

  static final class RangeWithoutCount extends RangeOfWhatWasRead {
    @Override
    boolean counts() {
      return false;
    }
  }

  /** A dead letter becomes PENDING again, at its place. */
  static class RequeueToPending extends Variant {
    @Override
    Set<Long> requeue(Administration<Handle> right, Handle handle, long sequence)
        throws SQLException {
      Set<Long> done = super.requeue(right, handle, sequence);
      handle.execute(
          "update outbox_message set status = 'PENDING', available_at = null where seq = ?",
          sequence);
      return done;
    }

    static void lowerMark(Handle handle, long sequence) {
      handle.execute(
          """
          update outbox_bucket set low_water = least(low_water, ?)
          where bucket = (select bucket from outbox_message where seq = ?)
          """,
          sequence,
          sequence);
    }
  }

  static final class LowerBefore extends RequeueToPending {
    @Override
    Set<Long> requeue(Administration<Handle> right, Handle handle, long sequence)
        throws SQLException {
      lowerMark(handle, sequence);
      handle.getConnection().commit();
      return super.requeue(right, handle, sequence);
    }
  }

  static final class LowerTogether extends RequeueToPending {
    @Override
    Set<Long> requeue(Administration<Handle> right, Handle handle, long sequence)
        throws SQLException {
      lowerMark(handle, sequence);
      return super.requeue(right, handle, sequence);
    }
  }
}
