package dev.outbox.tck.store;

import static dev.outbox.tck.internal.Decisions.all;
import static dev.outbox.tck.internal.Decisions.each;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.Texts;
import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Outcome;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.BreaksConnections;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.InThread;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import org.junit.jupiter.api.DisplayName;

/** S7: what leaves the store is in its archive, once. */
@DisplayName("Archive")
abstract class ArchiveTests<T> extends ArchiveStoreTests<T> {
  // ---- what is kept

  @Sentence(
      "a delivered message is in the archive once, as it was appended, with the broker's answer")
  void archivesInFull() {
    ArchiveStore store = with(Archive.FULL);
    expect("what the store says that it keeps", store.archive()).isEqualTo(Archive.FULL);
    OutboxMessage message = committed(full("k"));
    assertArchived("while the message waits");
    retryFirst(claim(), Duration.ZERO, true);
    Claim claim = awaitClaim("the retry");
    StoredMessage claimed = first(claim);
    assertArchived("while it is claimed");
    for (int i = 0; i < 2; i++) {
      claim.settle(Map.of(claimed.sequence(), Decision.delivered(() -> "orders-3@1742")));
    }
    Archived archived = one(ALL);
    requires("A3", () -> assertThat(claimed.message()).isEqualTo(message));
    expect("the archived message", archived.message().message()).isEqualTo(message);
    expect("sequence", archived.message().sequence()).isEqualTo(claimed.sequence());
    expect("createdAt", archived.message().createdAt()).isEqualTo(claimed.createdAt());
    assertLeft(message, Outcome.DELIVERED, null, 1);
    expect("whether it is whole", archived.whole()).isTrue();
    expect("the broker's answer", archived.answer()).isEqualTo("orders-3@1742");
    assertThat(archived.at()).as("when it left").isAfterOrEqualTo(claimed.createdAt());
    assertNothingDue("what is archived is not claimed");
  }

  @Sentence("an archive of metadata has all but payload and headers")
  void archiveMetadata() {
    with(Archive.METADATA);
    OutboxMessage message = committed(full("k"));
    Claim claim = claim();
    requires("A3", () -> assertThat(first(claim).message()).isEqualTo(message));
    settle(claim, Decision.delivered());
    Archived archived = one(ALL);
    expect("whether it is whole", archived.whole()).isFalse();
    OutboxMessage kept = archived.message().message();
    expect("size of the payload that was kept", kept.payloadSize()).isZero();
    expect("headers that were kept", kept.headers()).isEmpty();
    assertThat(kept.toBuilder().payload(message.payload()).addHeaders(message.headers()).build())
        .as("all the rest")
        .isEqualTo(message);
    expect("the answer of a broker that gave none", archived.answer()).isNull();
  }

  @Sentence("a store that keeps no archive archives nothing, and asks no broker's answer")
  void archiveNone() {
    with(Archive.NONE);
    committed("k", 3);
    List<String> asked = new ArrayList<>();
    Supplier<String> answer =
        () -> {
          asked.add("asked");
          return "orders-3@1742";
        };
    decideAll(100, m -> Decision.delivered(answer));
    expect("answers that were asked for", asked).isEmpty();
    with(Archive.FULL);
    assertArchived("of what was delivered without one");
  }

  @Sentence("no answer of a broker makes settle fail: it is cut and cleaned")
  void archiveHostileAnswers() {
    with(Archive.FULL);
    String hostile = "\u0000\uD800' \\ \u202E" + "x".repeat(3 * Texts.MAX_ERROR);
    committed(message("long"));
    settle(claim(), Decision.delivered(() -> hostile));
    expect("a long answer with what no database stores", one(ALL.key(key("long"))).answer())
        .isEqualTo(Texts.clean(hostile));
  }

  @Sentence("a dead letter that is discarded is archived with its error, one that is requeued not")
  void archiveDiscarded() {
    with(Archive.FULL);
    for (boolean halts : List.of(false, true)) {
      tck.reset();
      OutboxMessage message = committed(message("k"));
      long sequence = die(halts);
      requeue(sequence);
      assertArchived("after a requeue");
      retryFirst(awaitClaim("the requeued message"), Duration.ZERO, true);
      settle(awaitClaim("its retry"), Decision.dead("rejected again"));
      requires("S2", () -> assertThat(listedDead().get(0).error()).isEqualTo("rejected again"));
      for (int i = 0; i < 2; i++) {
        discard(sequence);
      }
      assertLeft(message, Outcome.DISCARDED, "rejected again", 2);
      expect("answer of what no broker has", one(ALL).answer()).isNull();
    }
  }

  // ---- expiry

  @Rule({"S7", "C10"})
  @Sentence("a message that expires is archived as that, once, with its failed attempts")
  void archiveMessageExpired() {
    tck.fixture(ExpiresMessages.class);
    with(Archive.FULL);
    OutboxMessage message = committed(message("k").expiresAt(ExpiryTests.OVER).header("h", "v"));
    retryFirst(claim(), Duration.ZERO, true);
    Claim claim = awaitClaim("the retry");
    for (int i = 0; i < 2; i++) {
      settle(claim, Decision.expired());
    }
    assertLeft(message, Outcome.EXPIRED, Decision.Expired.ERROR, 1);
    assertSame(one(ALL).message().message(), message);
  }

  @Sentence("a dead letter that expires is archived; a young one, or one that halts its key, stays")
  void archiveExpired() {
    with(Archive.FULL, SOME);
    committed("young", 1);
    die(false);
    letSomeMillisecondsPass();
    housekeep();
    expect("dead letters younger than they are kept", listedDead()).hasSize(1);
    tck.prepare();
    with(Archive.FULL, soon());
    OutboxMessage halts = committed(message("halts"));
    die(true);
    OutboxMessage expires = committed(message("expires"));
    die(false);
    requires(
        "S2",
        () ->
            assertThat(listedDead())
                .extracting(DeadLetterStore.DeadLetter::error)
                .containsExactly("rejected", "rejected"));
    List<StoredMessage> left =
        await(
            "housekeeping to remove a dead letter that died longer ago than those are kept",
            () -> {
              housekeep();
              List<StoredMessage> dead =
                  listedDead().stream().map(DeadLetterStore.DeadLetter::message).toList();
              return dead.size() < 2 ? dead : null;
            });
    assertCame("dead letters that stay", left).inOrder(halts);
    assertLeft(expires, Outcome.EXPIRED, "rejected", 1);
  }

  @Sentence("of a dead letter that is requeued while it expires, either has it, and never both")
  void archiveExpiredOrRequeued() {
    with(Archive.FULL, soon());
    committed(30, i -> "k" + i);
    List<StoredMessage> fromTheOtherEnd = new ArrayList<>(decideAll(100, m -> dead(false)));
    Collections.reverse(fromTheOtherEnd);
    letLeaseEnd();
    OutboxStore<T> store = store();
    InThread<Boolean> housekeeping =
        new InThread<>(
            "housekeeping",
            () -> {
              store.housekeep();
              return true;
            });
    List<StoredMessage> requeued = new ArrayList<>();
    List<StoredMessage> expired = new ArrayList<>();
    fromTheOtherEnd.forEach(m -> (requeue(m.sequence()) ? requeued : expired).add(m));
    boolean ignored = tck.call("housekeep", housekeeping::join);
    assertArchived("after each was requeued or was gone", expired);
    assertCame("due after it", drain()).inAnyOrder(requeued);
  }

  // ---- exactly once

  @Sentence("of many messages of many keys each is archived once, with its own answer")
  void archiveMany() {
    with(Archive.FULL);
    List<UUID> ids = idsOf(committed(140, i -> "k" + i % 20));
    List<UUID> came = new ArrayList<>();
    Claim claim = claim();
    while (!claim.messages().isEmpty()) {
      came.addAll(ids(claim));
      Map<Long, Decision> decisions =
          each(claim, m -> Decision.delivered(() -> "orders@" + m.sequence()));
      Claim next = store().settleAndClaim(claim, decisions, request(100, LONG)).next();
      claim = next.messages().isEmpty() ? claim() : next;
    }
    requires("C6", () -> assertCame(came).inAnyOrder(ids));
    assertArchived("after all were delivered", ids);
    for (Archived archived : archived(ALL)) {
      expect("the answer for %s".formatted(archived.message()), archived.answer())
          .isEqualTo("orders@" + archived.message().sequence());
    }
  }

  @Sentence("a settle whose reply was lost, repeated, archives nothing twice")
  void archiveLostReply() {
    LosesReplies fixture = tck.fixture(LosesReplies.class);
    with(Archive.FULL);
    List<UUID> ids = idsOf(committed("k", 3));
    Claim claim = claimAtLeast(3, LONG);
    Map<Long, Decision> decisions = all(claim, Decision.delivered());
    fixture.losingTheReply(
        () ->
            assertThat(store().settleAndClaim(claim, decisions, request(1, soon())).lost())
                .as("lost, though nobody took over")
                .isEmpty());
    claim.settle(decisions);
    assertArchived("after the settle was repeated", ids);
  }

  @Sentence("a settle after another took over archives nothing; the other's does")
  void archiveStale() {
    with(Archive.FULL);
    OutboxMessage message = committed(message("k"));
    TakenOver claims = takenOver();
    settle(claims.stale(), Decision.delivered(() -> "stale"));
    claims.current().settle(Map.of());
    Claim again = claim();
    requires("S1", () -> assertCame(again).inOrder(message));
    assertArchived("after the stale settle");
    settle(again, Decision.delivered(() -> "current"));
    settle(claims.stale(), Decision.delivered(() -> "stale"));
    expect("whose answer", one(ALL.id(message.id())).answer()).isEqualTo("current");
  }

  @Sentence("a settle whose connection breaks has archived what is gone, and nothing else")
  void archiveBreaksOff() {
    BreaksConnections fixture = tck.fixture(BreaksConnections.class);
    breakingAtEachWrite(write -> broke(fixture, write));
  }

  private boolean broke(BreaksConnections fixture, int write) {
    tck.prepare();
    with(Archive.FULL);
    List<UUID> ids = idsOf(committed("k", 3));
    Claim claim = claimAtLeast(3, soon());
    Map<Long, Decision> decisions = all(claim, Decision.delivered());
    boolean broke = fixture.breakingAtWrite(write, () -> claim.settle(decisions));
    List<UUID> gone = ids(messages(archived(ALL)));
    OutboxMessage last = committed(message("k"));
    String what =
        "a message appended to the key after its connection had broken at write %s of a settle"
            .formatted(write);
    List<UUID> came = requires("C4", () -> awaitCame(what, List.of(), last));
    came.remove(last.id());
    assertCame(
            "archived when write %s of a settle had broken, or still due then, which is one of the two"
                .formatted(write),
            List.of(gone, came))
        .inAnyOrder(ids);
    assertArchived("after write %s of a settle had broken".formatted(write), ids, last);
    return broke;
  }

  @Sentence("a settle of messages that are gone archives none that was given their sequences")
  void archiveSequencesGivenAgain() {
    RestartsSequences fixture = tck.fixture(RestartsSequences.class);
    with(Archive.FULL);
    fixture.restartSequences();
    committed("k", 3);
    Claim claim = claim(3, LONG);
    fixture.restartSequences();
    List<UUID> others = idsOf(committed("k", 3));
    settle(claim, Decision.delivered());
    Claim after = claim(3, LONG);
    requires("S1", () -> assertThat(id(first(after))).isEqualTo(others.get(0)));
    assertArchived("after a settle of messages that are gone");
    settle(after, Decision.delivered());
    requires("S3", () -> assertCame(drain()).hasSize(others.size() - after.messages().size()));
    assertArchived("after the others were delivered", others);
  }
}
