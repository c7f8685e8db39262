package dev.outbox.store.postgres;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.spi.Claim;
import dev.outbox.store.core.Mark;
import dev.outbox.store.postgres.MarkScript.Producer;
import dev.outbox.store.postgres.MarkScript.Stalled;
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
  private static DatabaseServer server;

  @BeforeAll
  static void startServer() {
    server = DatabaseServer.postgres();
  }

  @AfterAll
  static void stopServer() throws Exception {
    server.close();
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
        WrongMarks.Xmax::new);
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
        WrongMarks.ReadersId::new);
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
        WrongMarks.ReadersId::new);
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
        WrongMarks.LaterXmin::new);
  }

  @Test
  @DisplayName("the horizon left aside more than the transaction that reads")
  void horizonOfItself() throws Exception {
    MarkScript.run(
        server,
        script -> {
          Producer late = script.producer();
          late.insert();
          script.append();
          script.append();
          Claim first = script.claim(1);
          Claim second = script.deliverAndClaim(first, 10);
          script.deliver(second);
          late.commit();
        },
        WrongMarks.OwnId::new);
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

  @Test
  @DisplayName("the read that adopts began at the candidate")
  void readFromTheCandidate() throws Exception {
    MarkScript.run(server, MarkRuleTest::lateForTheFirstRead, WrongMarks.ReadFromCandidate::new);
  }

  @Test
  @DisplayName("the candidate were adopted though the old mark still shows a lower message")
  void candidateAlone() throws Exception {
    MarkScript.run(server, MarkRuleTest::lateForTheFirstRead, WrongMarks.CandidateAlone::new);
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
        WrongMarks.RequeueToPending::new);
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
        WrongMarks.LowerBefore::new);
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
        WrongMarks.LowerTogether::new);
  }
}
