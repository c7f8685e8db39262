package dev.outbox.store.postgres;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.spi.store.Claim;
import dev.outbox.store.postgres.MarkScript.Producer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * The rules of {@link CertifiedSequences} and {@link LowWaterMark} as statements keep them, and
 * each variant of those that a model checker refuted: random load does not tell them apart.
 */
@DisplayName("A low-water mark never passes a message that commits late, and would if")
class LowWaterMarkRuleTest {
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
  @DisplayName("a transaction drew its id before it sampled the sequence")
  void idBeforeSample() throws Exception {
    MarkScript.run(
        server,
        script -> {
          script.append();
          Producer late = script.producer();
          script.beforeLease(
              () -> {
                late.insert();
                script.append();
              });
          script.deliver(10);
          late.commit();
        },
        WrongLowWaterMarks.IdBeforeSample::new);
  }

  @Test
  @DisplayName("reading began ahead though a transaction that was open then is over")
  void aheadWhoeverIsOver() throws Exception {
    MarkScript.run(
        server,
        script -> {
          Producer late = script.producer();
          long low = late.insert();
          script.moveAhead(low);
          late.commit();
        },
        WrongLowWaterMarks.AheadWhoeverIsOver::new);
  }

  @Test
  @DisplayName("reading began ahead because, a statement before, who was open then was so still")
  void aheadAsSeenBefore() throws Exception {
    MarkScript.run(
        server,
        script -> {
          Producer late = script.producer();
          long low = late.insert();
          script.moveAhead(low);
          script.append();
          script.beforeRead(late::commit);
          script.deliver(10);
        },
        WrongLowWaterMarks.AheadAsSeenBefore::new);
  }

  @Test
  @DisplayName("the horizon were that of a statement after the read")
  void horizonOfALaterStatement() throws Exception {
    MarkScript.run(
        server,
        script -> {
          Producer late = script.producer();
          late.insert();
          script.append();
          script.afterRead(late::commit);
          script.deliver(10);
        },
        WrongLowWaterMarks.LaterHorizon::new);
  }

  @Test
  @DisplayName("a range beside an open transaction were deleted though that one is over")
  void rangeWhoeverIsOver() throws Exception {
    MarkScript.run(
        server,
        script -> {
          long first = script.append();
          Producer late = script.producer();
          late.insert();
          script.append();
          script.certifyBeside();
          Claim claim = script.claim(10);
          late.commit();
          script.delete(first);
          script.deliver(claim);
        },
        WrongLowWaterMarks.RangeWhoeverIsOver::new);
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
        WrongLowWaterMarks.RequeueToPending::new);
  }
}
