package dev.outbox.store.postgres;

import dev.outbox.store.core.Lease;
import dev.outbox.store.core.Mark;
import dev.outbox.store.core.Row;
import dev.outbox.store.core.Statements.Held;
import dev.outbox.store.core.Statements.Limits;
import dev.outbox.store.core.Statements.Pending;
import dev.outbox.store.core.Statements.Release;
import dev.outbox.store.jdbc.Dialect;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/** Dialects that move a bucket's low-water mark by other rules than {@link Mark}'s. */
final class WrongMarks {
  private WrongMarks() {}

  private static long number(Handle handle, String sql) {
    return handle.createQuery(sql).mapTo(Long.class).one();
  }

  /** Says of each bucket that was read that another transaction settles it. */
  abstract static class OtherTransaction extends Variant {
    private final Map<Integer, Long> remembered = new HashMap<>();

    abstract long remember(Handle handle);

    @Override
    Pending readPending(Dialect right, Handle handle, List<Lease> leases, Limits limits) {
      long other = remember(handle);
      leases.forEach(lease -> remembered.put(lease.bucket(), other));
      return super.readPending(right, handle, leases, limits);
    }

    @Override
    List<Held> lockHeld(Dialect right, Handle handle, UUID owner, Collection<Lease> leases) {
      return super.lockHeld(right, handle, owner, leases).stream()
          .map(h -> with(h, remembered.get(h.bucket())))
          .toList();
    }

    private static Held with(Held h, long transaction) {
      return new Held(h.bucket(), h.left(), h.scheduled(), h.blocked(), transaction, h.history());
    }
  }

  /**
   * Xmax is one more than the latest transaction that is over, and running ones may lie above. A
   * mark that waits for {@code after < horizon} waits for the horizon to reach xmax.
   */
  static final class Xmax extends OtherTransaction {
    @Override
    long remember(Handle handle) {
      return number(handle, "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint") - 1;
    }
  }

  /** Drawn before the read, by the lease or by the settle of the batch before. */
  static final class ReadersId extends OtherTransaction {
    @Override
    long remember(Handle handle) {
      return number(handle, "select pg_current_xact_id()::text::bigint");
    }
  }

  static final class LaterXmin extends Variant {
    @Override
    Pending readPending(Dialect right, Handle handle, List<Lease> leases, Limits limits) {
      List<Row> rows = super.readPending(right, handle, leases, limits).rows();
      String horizon = "select pg_snapshot_xmin(pg_current_snapshot())::text::bigint";
      return new Pending(rows, number(handle, horizon));
    }
  }

  /** Leaves aside not only the reading transaction itself, but also those before it. */
  static final class OwnId extends Variant {
    @Override
    Pending readPending(Dialect right, Handle handle, List<Lease> leases, Limits limits) {
      List<Row> rows = super.readPending(right, handle, leases, limits).rows();
      return new Pending(rows, 1 + number(handle, "select pg_current_xact_id()::text::bigint"));
    }
  }

  static final class ReadFromCandidate extends Variant {
    @Override
    Pending readPending(Dialect right, Handle handle, List<Lease> leases, Limits limits) {
      List<Lease> later = leases.stream().map(ReadFromCandidate::fromCandidate).toList();
      return super.readPending(right, handle, later, limits);
    }

    private static Lease fromCandidate(Lease l) {
      Mark m = l.mark();
      Mark mark = new Mark(Math.max(m.low(), m.candidate()), 0, 0, m.read(), m.history());
      return new Lease(
          l.bucket(),
          l.token(),
          mark,
          l.scheduled(),
          l.blocked(),
          l.single(),
          l.left(),
          l.batches(),
          l.since());
    }
  }

  /** Keeps what the read saw below the candidate out of the mark that is stored. */
  static final class CandidateAlone extends Variant {
    private final Map<Integer, Long> adopted = new HashMap<>();

    @Override
    Pending readPending(Dialect right, Handle handle, List<Lease> leases, Limits limits) {
      Pending read = super.readPending(right, handle, leases, limits);
      for (Lease lease : leases) {
        if (lease.mark().candidate() != 0 && lease.mark().after() < read.horizon()) {
          adopted.put(lease.bucket(), lease.mark().candidate());
        }
      }
      return read;
    }

    @Override
    void release(Dialect right, Handle handle, UUID owner, List<Release> releases) {
      super.release(right, handle, owner, releases);
      releases.forEach(
          r -> {
            Long low = adopted.remove(r.lease().bucket());
            if (low != null) {
              handle.execute(
                  "update outbox_bucket set low_water = greatest(low_water, ?) where bucket = ?",
                  low,
                  r.lease().bucket());
            }
          });
    }
  }

  /** A dead letter becomes PENDING again, at its place. */
  static class RequeueToPending extends Variant {
    @Override
    boolean requeue(Dialect right, Handle handle, long sequence) throws SQLException {
      boolean done = super.requeue(right, handle, sequence);
      handle.execute(
          "update outbox_message set status = 'PENDING', available_at = null where seq = ?",
          sequence);
      return done;
    }

    static void lowerMark(Handle handle, long sequence) {
      handle.execute(
          """
          update outbox_bucket set low_water = least(low_water, ?), next_low_water = 0
          where bucket = (select bucket from outbox_message where seq = ?)
          """,
          sequence,
          sequence);
    }
  }

  static final class LowerBefore extends RequeueToPending {
    @Override
    boolean requeue(Dialect right, Handle handle, long sequence) throws SQLException {
      lowerMark(handle, sequence);
      handle.getConnection().commit();
      return super.requeue(right, handle, sequence);
    }
  }

  static final class LowerTogether extends RequeueToPending {
    @Override
    boolean requeue(Dialect right, Handle handle, long sequence) throws SQLException {
      lowerMark(handle, sequence);
      return super.requeue(right, handle, sequence);
    }
  }
}
