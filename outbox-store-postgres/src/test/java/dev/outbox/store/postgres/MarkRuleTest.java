package dev.outbox.store.postgres;

import dev.outbox.embedded.PostgresServer;
import dev.outbox.spi.Claim;
import dev.outbox.store.jdbc.Dialect;
import dev.outbox.store.jdbc.Dialect.Held;
import dev.outbox.store.jdbc.Dialect.Limits;
import dev.outbox.store.jdbc.Dialect.Pending;
import dev.outbox.store.jdbc.Dialect.Release;
import dev.outbox.store.jdbc.Lease;
import dev.outbox.store.jdbc.Mark;
import dev.outbox.store.postgres.MarkScript.Producer;
import dev.outbox.store.postgres.MarkScript.Stalled;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * The rule of {@link Mark}, and each variant of it that a model checker refuted: random load does
 * not tell them apart.
 */
@DisplayName("A low-water mark never passes a message that commits late, and would if")
class MarkRuleTest {
  private static PostgresServer server;

  @BeforeAll
  static void startServer() {
    server = PostgresServer.forTests();
  }

  @AfterAll
  static void stopServer() throws Exception {
    server.close();
  }

  private static long number(Handle handle, String sql) {
    return handle.createQuery(sql).mapTo(Long.class).one();
  }

  /** Says of each bucket that was read that another transaction settles it. */
  private abstract static class OtherTransaction extends Variant {
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
      return new Held(h.bucket(), h.left(), h.scheduled(), h.blocked(), transaction);
    }
  }

  /**
   * Xmax is one more than the latest transaction that is over, and running ones may lie above. A
   * mark that waits for {@code after < horizon} waits for the horizon to reach xmax.
   */
  private static final class Xmax extends OtherTransaction {
    @Override
    long remember(Handle handle) {
      return number(handle, "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint") - 1;
    }
  }

  @Test
  @DisplayName("a candidate waited for the xmax of the snapshot that read it")
  void xmax() throws Exception {
    MarkScript.run(
        server,
        script -> {
          Producer early = script.producer();
          early.drawId();
          Producer late = script.producer();
          late.drawId();
          late.insert();
          early.insert();
          early.commit();
          script.deliver(10);
          script.append();
          script.deliver(10);
          late.commit();
        },
        Xmax::new);
  }

  /** Drawn before the read, by the lease or by the settle of the batch before. */
  private static final class ReadersId extends OtherTransaction {
    @Override
    long remember(Handle handle) {
      return number(handle, "select pg_current_xact_id()::text::bigint");
    }
  }

  /** The ids of both are above that of the transaction which is about to read. */
  private static void lateAndInTime(MarkScript script, Producer late) {
    late.insert();
    script.append();
  }

  @Test
  @DisplayName("a candidate carried the id of the transaction that read it while it settled")
  void idOfTheReaderThatSettles() throws Exception {
    MarkScript.run(
        server,
        script -> {
          script.append();
          script.append();
          Claim first = script.claim(1);
          Producer late = script.producer();
          script.beforeRead(() -> lateAndInTime(script, late));
          Claim second = script.deliverAndClaim(first, 10);
          script.deliver(second);
          script.append();
          script.deliver(10);
          late.commit();
        },
        ReadersId::new);
  }

  @Test
  @DisplayName("a candidate carried the id of the transaction that read it while it leased")
  void idOfTheReaderThatLeases() throws Exception {
    MarkScript.run(
        server,
        script -> {
          script.append();
          Producer late = script.producer();
          script.beforeRead(() -> lateAndInTime(script, late));
          script.deliver(10);
          script.append();
          script.deliver(10);
          late.commit();
        },
        ReadersId::new);
  }

  private static final class LaterXmin extends Variant {
    @Override
    Pending readPending(Dialect right, Handle handle, List<Lease> leases, Limits limits) {
      List<dev.outbox.store.jdbc.Row> rows =
          super.readPending(right, handle, leases, limits).rows();
      String horizon = "select pg_snapshot_xmin(pg_current_snapshot())::text::bigint";
      return new Pending(rows, number(handle, horizon));
    }
  }

  @Test
  @DisplayName("the horizon were that of a statement after the read")
  void xminOfALaterStatement() throws Exception {
    MarkScript.run(
        server,
        script -> {
          Producer late = script.producer();
          late.insert();
          script.append();
          script.deliver(10);
          script.append();
          script.afterRead(late::commit);
          script.deliver(10);
        },
        LaterXmin::new);
  }

  /** Two messages commit late, but in time for the read that adopts; it has room for one. */
  private static void lateForTheFirstRead(MarkScript script) {
    Producer late = script.producer();
    late.insert();
    late.insert();
    script.append();
    script.deliver(10);
    late.commit();
    script.append();
    script.deliver(1);
  }

  private static final class ReadFromCandidate extends Variant {
    @Override
    Pending readPending(Dialect right, Handle handle, List<Lease> leases, Limits limits) {
      List<Lease> later = leases.stream().map(ReadFromCandidate::fromCandidate).toList();
      return super.readPending(right, handle, later, limits);
    }

    private static Lease fromCandidate(Lease l) {
      Mark m = l.mark();
      Mark mark = new Mark(Math.max(m.low(), m.candidate()), 0, 0, m.read());
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

  @Test
  @DisplayName("the read that adopts began at the candidate")
  void readFromTheCandidate() throws Exception {
    MarkScript.run(server, MarkRuleTest::lateForTheFirstRead, ReadFromCandidate::new);
  }

  /** Keeps what the read saw below the candidate out of the mark that is stored. */
  private static final class CandidateAlone extends Variant {
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

  @Test
  @DisplayName("the candidate were adopted though the old mark still shows a lower message")
  void candidateAlone() throws Exception {
    MarkScript.run(server, MarkRuleTest::lateForTheFirstRead, CandidateAlone::new);
  }

  @Test
  @DisplayName("txid stood behind seq, and a producer stalled between the two")
  void sequenceFirst() throws Exception {
    MarkScript.run(
        server,
        script -> {
          Stalled late = script.stalledInsert();
          script.append();
          script.deliver(10);
          script.append();
          script.deliver(10);
          late.goOnAndCommit();
        },
        Variant::new,
        """
        alter table outbox_message drop column txid;
        alter table outbox_message add column txid xid8 not null default pg_current_xact_id()
        """);
  }

  /** A dead letter becomes PENDING again, at its place. */
  private static class RequeueToPending extends Variant {
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

  @Test
  @DisplayName("a requeue made a message PENDING")
  void requeueToPending() throws Exception {
    MarkScript.run(
        server,
        script -> {
          long dead = script.appendAndBury();
          script.moveMark();
          script.requeue(dead);
        },
        RequeueToPending::new);
  }

  private static final class LowerBefore extends RequeueToPending {
    @Override
    boolean requeue(Dialect right, Handle handle, long sequence) throws SQLException {
      lowerMark(handle, sequence);
      handle.getConnection().commit();
      return super.requeue(right, handle, sequence);
    }
  }

  @Test
  @DisplayName("a requeue made a message PENDING, with the mark lowered in a transaction before")
  void lowerMarkBefore() throws Exception {
    MarkScript.run(
        server,
        script -> {
          long dead = script.appendAndBury();
          script.beforeRequeue(script::moveMark);
          script.requeue(dead);
        },
        LowerBefore::new);
  }

  private static final class LowerTogether extends RequeueToPending {
    @Override
    boolean requeue(Dialect right, Handle handle, long sequence) throws SQLException {
      lowerMark(handle, sequence);
      return super.requeue(right, handle, sequence);
    }
  }

  @Test
  @DisplayName("a requeue made a message PENDING and lowered the mark, which its holder remembers")
  void lowerMarkInTheTableOnly() throws Exception {
    MarkScript.run(
        server,
        script -> {
          long dead = script.appendAndBury();
          script.append();
          Claim holder = script.claim(10);
          script.requeue(dead);
          script.deliver(holder);
        },
        LowerTogether::new);
  }
}
