package dev.outbox.tck.store;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.WorkerLease;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;

/** C4, S4 and S6: leases, late settles, crashes of relays, clients that stop, killed servers. */
abstract class LeaseTests<T> extends StoreTests<T> {
  /** After so many in a row what ends the process is suspected. */
  private static final int CRASHES = 7;

  @Rule("C4")
  @Sentence("when the lease has ended, another may have the message")
  void ends() {
    OutboxMessage message = committed(message("k"));
    TakenOver claims = takenOver();
    assertCame("what was claimed", claims.stale()).inOrder(message);
    assertCame("claimed afterwards", claims.current()).inOrder(message);
  }

  @Rule("C4")
  @Sentence("a late settle is accepted when nobody took over")
  void lateSettle() {
    committed("k", 1);
    Claim claim = claim(1, soon());
    expect("what was claimed", claim.messages()).hasSize(1);
    letLeaseEnd();
    assertThat(settle(claim, Decision.delivered()))
        .as("lost, though nobody took over after the lease ended")
        .isEmpty();
    assertNothingDue("settled as delivered, late");
  }

  @Rule("C4")
  @Sentence("a renewed claim is held for the new time")
  void renew() {
    committed(2, i -> "k" + i);
    Claim claim = claim(100, soon());
    expect("sequences still held", claim.renew(LONG))
        .containsExactlyInAnyOrderElementsOf(sequences(claim));
    letLeaseEnd();
    Claim other = claim();
    expect("claimed by another though the lease was renewed", sequences(other))
        .doesNotContainAnyElementsOf(sequences(claim));
    expect("lost after a renewal", settle(claim, Decision.delivered())).isEmpty();
  }

  @Rule("S1")
  @Sentence("whoever takes over one message of a key takes over the key")
  void partOfAKey() {
    committed(6, i -> "k" + i % 3);
    Claim stale = claim(100, soon());
    expect("what was claimed", stale.messages()).isNotEmpty();
    Claim current =
        requires("C4", () -> await("the end of a lease", () -> overlapping(stale, claim(1, LONG))));
    List<Long> taken =
        stale.messages().stream()
            .filter(message -> message.key().equals(first(current).key()))
            .map(StoredMessage::sequence)
            .toList();
    expect("sequences still held of a key that another has, if only a message", stale.renew(LONG))
        .doesNotContainAnyElementsOf(taken);
    expect("sequences held by the one that took over", current.renew(LONG))
        .containsExactlyInAnyOrderElementsOf(sequences(current));
    Set<Long> lost = settle(stale, Decision.delivered());
    expect("lost, with a key that another has, if only a message", lost).containsAll(taken);
    expect("lost by the one that took over", settle(current, Decision.delivered())).isEmpty();
  }

  private static @Nullable Claim overlapping(Claim stale, Claim other) {
    return Collections.disjoint(sequences(stale), sequences(other)) ? null : other;
  }

  @Rule("S4")
  @Sentence("what a crashed relay had claimed is claimed again after the lease, all of it")
  void crash() {
    List<OutboxMessage> messages = committed(30, i -> "k" + i % 10);
    List<UUID> abandoned = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      abandoned.addAll(ids(claim(4, soon())));
    }
    expect("claimed by a relay that crashed", abandoned).isNotEmpty();
    assertCame("claimed by others", awaitDrained(messages.size())).inAnyOrder(messages);
  }

  @Sentence("who holds leases is known by name, with their times, until they are settled or over")
  void holders() {
    StatisticsStore store = tck.ability(StatisticsStore.class);
    assumeTrue(store.leases().isPresent(), "the store cannot say who holds leases");
    Supplier<List<WorkerLease>> leases = () -> store.leases().orElseThrow();
    expect("leases of an empty store", leases.get()).isEmpty();
    committed("k", 1);
    Claim claim = claim(100, LONG);
    expect("leases while a claim is open", leases.get())
        .singleElement()
        .satisfies(
            held -> {
              expect("worker", held.worker()).isEqualTo(request(1, LONG).worker());
              expect("buckets", held.buckets()).isPositive();
              expect("until", held.until()).isEqualTo(held.since().plus(LONG));
            });
    settle(claim, Decision.delivered());
    expect("leases after the settle", leases.get()).isEmpty();
    committed("k", 1);
    expect("what was claimed", claim(100, soon()).messages()).hasSize(1);
    await("the end of a lease", () -> leases.get().isEmpty() ? true : null);
  }

  /** What a relay claims that does not live to settle. */
  private StoredMessage claimedByOneThatCrashes() {
    return first(
        await("a claim after the lease of a crashed relay", () -> nonEmpty(claim(100, soon()))));
  }

  @Rule("S6")
  @Sentence(
      "after some crashes one comes alone, its attempts grow, and once it is settled the key goes on")
  void countsBeforePublishing() {
    tck.fixture(FindsPoison.class);
    committed("k", 3);
    long head = first(claim(100, soon())).sequence();
    for (int i = 0; i < CRASHES; i++) {
      expect("sequence of the head after a crash", claimedByOneThatCrashes().sequence())
          .isEqualTo(head);
    }
    int before = claimedByOneThatCrashes().attempts();
    Claim claim = awaitClaim("the suspected message");
    expect("messages of a claim after many crashes", claim.messages()).hasSize(1);
    expect("attempts after one more crash", first(claim).attempts()).isEqualTo(before + 1);
    expect("attempts after %s crashes".formatted(CRASHES), before).isGreaterThan(0);
    settle(claim, Decision.dead("ends the process"));
    List<StoredMessage> rest = drain();
    expect("messages behind the one that was suspected", rest).hasSize(2);
    expect("attempts of the others", rest).allMatch(m -> m.attempts() == 0);
  }

  @Rule("S6")
  @Sentence("an unavailable result gives the counted attempt back; a failed one counts once")
  void givesBack() {
    tck.fixture(FindsPoison.class);
    committed("k", 1);
    for (int i = 0; i < CRASHES; i++) {
      claimedByOneThatCrashes();
    }
    Claim claim = awaitClaim("the suspected message");
    int attempts = first(claim).attempts();
    settle(claim, Decision.retryUncounted(Duration.ZERO, "unavailable"));
    claim = awaitClaim("the message after an unavailable result");
    expect("attempts after unavailable", first(claim).attempts()).isEqualTo(attempts);
    settle(claim, Decision.retry(Duration.ZERO, "failed"));
    claim = awaitClaim("the message after a failed result");
    expect("attempts after failed", first(claim).attempts()).isEqualTo(attempts + 1);
    settle(claim, Decision.delivered());
    assertNothingDue("delivered at last");
  }

  private List<OutboxMessage> some() {
    return committed(20, i -> "k" + i % 5);
  }

  @Tag("slow")
  @Rule("C4")
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

  @Tag("slow")
  @Rule("C4")
  @Sentence("a client that stops in the middle of a settle holds nothing back for long")
  void stopsInSettle() throws Exception {
    StalledClients fixture = tck.fixture(StalledClients.class);
    List<OutboxMessage> messages = some();
    Claim claim = claim(100, tck.shortTime());
    Map<Long, Decision> delivered = all(claim, Decision.delivered());
    try (AutoCloseable stopped = fixture.stopInSettle(claim, delivered)) {
      expect("the stopped client", stopped).isNotNull();
      List<OutboxMessage> more = some();
      awaitCame(
          "all messages while a client is stopped in the middle of a settle",
          ids(claim),
          messages,
          more);
    }
  }

  @Tag("slow")
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
      awaitCame("all messages that were claimed before the server was killed", List.of(), claimed);
    }
  }

  @Tag("slow")
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
