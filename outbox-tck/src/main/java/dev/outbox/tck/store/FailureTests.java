package dev.outbox.tck.store;

import static dev.outbox.tck.internal.Decisions.all;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

/** Clients that stop, servers that are killed. */
@DisplayName("Clients that stop and servers that are killed")
@Tag("slow")
@Rule("C4")
abstract class FailureTests<T> extends StoreTests<T> {
  private List<OutboxMessage> some() {
    return committed(20, i -> "k" + i % 5);
  }

  @Sentence("a client that stops in the middle of a claim holds nothing back for long")
  void stopsInClaim() throws Exception {
    StalledClients fixture = tck.fixture(StalledClients.class);
    List<OutboxMessage> messages = some();
    try (AutoCloseable stopped = fixture.stopInClaim(request(100, tck.shortTime()))) {
      expect("the stopped client", stopped).isNotNull();
      assertCame(
              "came while a client is stopped in the middle of a claim",
              awaitDrained(messages.size()))
          .inAnyOrder(messages);
    }
  }

  @Sentence("a client that stops in the middle of a settle holds nothing back for long")
  void stopsInSettle() throws Exception {
    StalledClients fixture = tck.fixture(StalledClients.class);
    List<OutboxMessage> messages = some();
    Claim claim = claim(100, tck.shortTime());
    Map<Long, Decision> delivered = all(claim, Decision.delivered());
    try (AutoCloseable stopped = fixture.stopInSettle(claim, delivered)) {
      expect("the stopped client", stopped).isNotNull();
      List<OutboxMessage> more = some();
      List<UUID> ignored =
          awaitCame(
              "all messages while a client is stopped in the middle of a settle",
              ids(claim),
              messages,
              more);
    }
  }

  @Rule("A1")
  @Sentence("what was claimed has happened, even if the server is killed right after")
  void claimedHasHappened() {
    KillsServer<T> fixture = tck.fixture(KillsServer.class);
    for (int round = 0; round < 3; round++) {
      tck.prepare();
      List<UUID> claimed = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        List<OutboxMessage> message = List.of(message("k" + i).build());
        fixture.inRelaxedTransaction(t -> store().append(t, message));
        claimed.addAll(ids(claim(1, tck.shortTime())));
      }
      fixture.killServer();
      List<UUID> ignored =
          awaitCame(
              "all messages that were claimed before the server was killed", List.of(), claimed);
    }
  }

  @Rule({"A1", "S4"})
  @Sentence("what is committed survives a killed server, as decisions do, and claims begin again")
  void decisionsSurvive() {
    KillsServer<T> fixture = tck.fixture(KillsServer.class);
    List<OutboxMessage> messages = some();
    fixture.killServer(); // before anything else makes durable what was committed
    Claim settled = claim(5, tck.shortTime());
    settle(settled, Decision.delivered());
    claim(5, tck.shortTime());
    fixture.killServer();
    List<UUID> left = new ArrayList<>(idsOf(messages));
    left.removeAll(ids(settled));
    assertCame("came after the server was killed", awaitDrained(left.size())).inAnyOrder(left);
  }
}
