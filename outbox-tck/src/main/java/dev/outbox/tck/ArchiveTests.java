package dev.outbox.tck;

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
import dev.outbox.spi.store.HousekeepingStore;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** S7: what leaves the store is in its archive, once. */
abstract class ArchiveTests<T> extends ArchiveStoreTests<T> {
  /** A settle of three messages that needs more is not broken at each of them. */
  private static final int MOST_WRITES = 12;

  ArchiveTests(OutboxStoreTck<T> tck) {
    super(tck);
  }

  // ---- what is kept

  @Test
  @Rule("S7")
  @Sentence("a delivered message is in the archive as it was appended, with the broker's answer")
  void archivesInFull() {
    ArchiveStore store = with(Archive.FULL);
    assertThat(store.archive()).as("what the store says that it keeps").isEqualTo(Archive.FULL);
    OutboxMessage message = committed(full("k"));
    assertArchived("while the message waits", List.of());
    Claim claim = claim();
    StoredMessage claimed = first(claim);
    assertArchived("while it is claimed", List.of());
    settle(claim, Map.of(claimed.sequence(), delivered(() -> "orders-3@1742")));
    Archived archived = one(ALL);
    requires("A3", () -> assertThat(claimed.message()).isEqualTo(message));
    assertThat(archived.message().message()).as("the archived message").isEqualTo(message);
    assertThat(archived.message().sequence()).as("sequence").isEqualTo(claimed.sequence());
    assertThat(archived.message().createdAt()).as("createdAt").isEqualTo(claimed.createdAt());
    assertThat(archived.message().attempts()).as("failed attempts").isZero();
    assertThat(archived.whole()).as("whether it is whole").isTrue();
    assertThat(archived.outcome()).as("outcome").isEqualTo(Outcome.DELIVERED);
    assertThat(archived.answer()).as("the broker's answer").isEqualTo("orders-3@1742");
    assertThat(archived.error()).as("error of a delivered message").isNull();
    assertThat(archived.at()).as("when it left").isAfterOrEqualTo(claimed.createdAt());
    assertNothingDue("what is archived is not claimed");
  }

  @Test
  @Rule("S7")
  @Sentence("an archive of metadata has all but payload and headers")
  void archiveMetadata() {
    with(Archive.METADATA);
    OutboxMessage message = committed(full("k"));
    Claim claim = claim();
    requires("A3", () -> assertThat(first(claim).message()).isEqualTo(message));
    settle(claim, Decision.delivered());
    Archived archived = one(ALL);
    assertThat(archived.whole()).as("whether it is whole").isFalse();
    OutboxMessage kept = archived.message().message();
    assertThat(kept.payloadSize()).as("size of the payload that was kept").isZero();
    assertThat(kept.headers()).as("headers that were kept").isEmpty();
    assertThat(kept.toBuilder().payload(message.payload()).addHeaders(message.headers()).build())
        .as("all the rest")
        .isEqualTo(message);
    assertThat(archived.answer()).as("the answer of a broker that gave none").isNull();
  }

  @Test
  @Rule("S7")
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
    for (Claim claim = claim(); !claim.messages().isEmpty(); claim = claim()) {
      settle(claim, delivered(answer));
    }
    assertThat(asked).as("answers that were asked for").isEmpty();
    with(Archive.FULL);
    assertArchived("of what was delivered without one", List.of());
  }

  @Test
  @Rule("S7")
  @Sentence("no answer of a broker makes settle fail: it is cut and cleaned, and may even throw")
  void archiveHostileAnswers() {
    with(Archive.FULL);
    String hostile = "\u0000\uD800' \\ \u202E" + "x".repeat(3 * Texts.MAX_ERROR);
    committed(message("long"));
    settle(claim(), delivered(() -> hostile));
    assertThat(one(ALL.key(key("long"))).answer())
        .as("a long answer with what no database stores")
        .isEqualTo(Texts.clean(hostile));
    committed(message("throws"));
    settle(
        claim(),
        delivered(
            () -> {
              throw new IllegalStateException("the connection is gone");
            }));
    assertThat(one(ALL.key(key("throws"))).answer()).as("one that throws").isNotBlank();
  }

  @Test
  @Rule("S7")
  @Sentence("attempts are those that failed; what is retried or dead has not left")
  void archiveAttempts() {
    with(Archive.FULL);
    OutboxMessage message = committed(message("k"));
    retryFirst(claim(), Duration.ZERO, true);
    assertArchived("after a retry", List.of());
    settle(awaitClaim("the retry"), Decision.delivered());
    assertThat(one(ALL.id(message.id())).message().attempts()).as("failed attempts").isEqualTo(1);
    committed("other", 1);
    settle(claim(), Decision.dead("rejected"));
    assertArchived("beside a dead letter", List.of(message.id()));
  }

  @Test
  @Rule("S7")
  @Sentence("a dead letter that is discarded is archived with its error, one that is requeued not")
  void archiveDiscarded() {
    with(Archive.FULL);
    DeadLetterStore letters = tck.ability(DeadLetterStore.class);
    for (boolean halts : List.of(false, true)) {
      tck.reset();
      OutboxMessage message = committed(message("k"));
      Claim claim = claim();
      long sequence = first(claim).sequence();
      settle(claim, halts ? Decision.deadHaltingKey("rejected") : Decision.dead("rejected"));
      call("requeue", () -> letters.requeue(sequence));
      assertArchived("after a requeue", List.of());
      retryFirst(awaitClaim("the requeued message"), Duration.ZERO, true);
      settle(awaitClaim("its retry"), Decision.dead("rejected again"));
      requires(
          "S2",
          () -> assertThat(letters.deadLetters(0, 10).get(0).error()).isEqualTo("rejected again"));
      for (int i = 0; i < 2; i++) {
        call("discard", () -> letters.discard(sequence));
      }
      Archived archived = one(ALL);
      assertThat(id(archived.message())).as("id").isEqualTo(message.id());
      assertThat(archived.outcome()).as("outcome").isEqualTo(Outcome.DISCARDED);
      assertThat(archived.error()).as("error").isEqualTo("rejected again");
      assertThat(archived.message().attempts()).as("attempts since the requeue").isEqualTo(2);
      assertThat(archived.answer()).as("answer of what no broker has").isNull();
    }
  }

  @Test
  @Rule("S7")
  @Sentence("a row that cannot be decoded is archived with its key when it is discarded")
  void archiveUndecodable() {
    RawRows<T> rows = tck.fixture(RawRows.class);
    with(Archive.FULL);
    DeadLetterStore letters = tck.ability(DeadLetterStore.class);
    run(
        "insert a row that cannot be decoded",
        () -> tck.inTransaction(t -> rows.insertUndecodable(t, RawRows.RawRow.of("k"))));
    List<Claim> claims = new ArrayList<>();
    requires("C7", () -> claims.add(claim()));
    long sequence = first(claims.get(0)).sequence();
    settle(claims.get(0), Decision.dead("undecodable"));
    call("discard", () -> letters.discard(sequence));
    Archived archived = one(ALL);
    assertThat(archived.message().sequence()).as("sequence").isEqualTo(sequence);
    assertThat(archived.message().key()).as("key").isEqualTo(key("k"));
  }

  // ---- expiry

  private void withRetention() {
    DeadLetterRetentions<T> fixture = tck.fixture(DeadLetterRetentions.class);
    tck.use(fixture.createStore(Archive.FULL, soon()));
  }

  private void housekeep() {
    HousekeepingStore store = tck.ability(HousekeepingStore.class);
    run("housekeep", store::housekeep);
  }

  @Test
  @Rule("S7")
  @Sentence("a dead letter that expires is archived with its error; one that halts its key stays")
  void archiveExpired() {
    withRetention();
    DeadLetterStore letters = tck.ability(DeadLetterStore.class);
    OutboxMessage halts = committed(message("halts"));
    settle(claim(), Decision.deadHaltingKey("rejected"));
    OutboxMessage expires = committed(message("expires"));
    settle(claim(), Decision.dead("rejected"));
    requires(
        "S2",
        () ->
            assertThat(letters.deadLetters(0, 10))
                .extracting(DeadLetterStore.DeadLetter::error)
                .containsExactly("rejected", "rejected"));
    List<StoredMessage> left =
        await(
            "housekeeping to remove a dead letter that died longer ago than those are kept",
            () -> {
              housekeep();
              List<StoredMessage> dead =
                  letters.deadLetters(0, 10).stream()
                      .map(DeadLetterStore.DeadLetter::message)
                      .toList();
              return dead.size() < 2 ? dead : null;
            });
    assertCame(left).as("dead letters that stay").containsExactly(halts.id());
    Archived archived = one(ALL);
    assertThat(id(archived.message())).as("id").isEqualTo(expires.id());
    assertThat(archived.outcome()).as("outcome").isEqualTo(Outcome.EXPIRED);
    assertThat(archived.error()).as("error").isEqualTo("rejected");
    assertThat(archived.message().attempts()).as("attempts").isEqualTo(1);
  }

  @Test
  @Rule("S7")
  @Sentence("of a dead letter that is requeued while it expires, either has it, and never both")
  void archiveExpiredOrRequeued() {
    withRetention();
    DeadLetterStore letters = tck.ability(DeadLetterStore.class);
    for (int i = 0; i < 30; i++) {
      committed("k" + i, 1);
    }
    Map<Long, UUID> dead = new LinkedHashMap<>();
    for (Claim claim = claim(); !claim.messages().isEmpty(); claim = claim()) {
      claim.messages().forEach(message -> dead.put(message.sequence(), id(message)));
      settle(claim, Decision.dead("rejected"));
    }
    letLeaseEnd();
    CompletableFuture<Void> housekeeping = CompletableFuture.runAsync(this::housekeep);
    List<Long> fromTheOtherEnd = new ArrayList<>(dead.keySet());
    Collections.reverse(fromTheOtherEnd);
    List<UUID> requeued = new ArrayList<>();
    List<UUID> expired = new ArrayList<>();
    for (long sequence : fromTheOtherEnd) {
      boolean was = call("requeue", () -> letters.requeue(sequence));
      (was ? requeued : expired).add(dead.get(sequence));
    }
    run("housekeep", housekeeping::join);
    assertArchived("after each was requeued or was gone", expired);
    assertCame(drain()).as("due after it").containsExactlyInAnyOrderElementsOf(requeued);
  }

  // ---- exactly once

  @Test
  @Rule("S7")
  @Sentence("of many messages of many keys each is archived once, with its own answer")
  void archiveMany() {
    with(Archive.FULL);
    Map<UUID, String> answers = new HashMap<>();
    List<UUID> ids = new ArrayList<>();
    List<UUID> came = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      ids.addAll(idsOf(committed("k" + i, 7)));
    }
    Claim claim = claim();
    while (!claim.messages().isEmpty()) {
      Map<Long, Decision> decisions = new HashMap<>();
      for (StoredMessage message : claim.messages()) {
        came.add(id(message));
        String answer = "orders@" + message.sequence();
        answers.put(id(message), answer);
        decisions.put(message.sequence(), delivered(() -> answer));
      }
      Claim done = claim;
      claim =
          call("settleAndClaim", () -> store().settleAndClaim(done, decisions, request(100, LONG)))
              .next();
      if (claim.messages().isEmpty()) {
        claim = claim();
      }
    }
    requires("C6", () -> assertCame(came).containsExactlyInAnyOrderElementsOf(ids));
    assertArchived("after all were delivered", ids);
    for (Archived archived : archived(ALL)) {
      assertThat(archived.answer())
          .as("the answer for %s", archived.message())
          .isEqualTo(answers.get(id(archived.message())));
    }
  }

  @Test
  @Rule("S7")
  @Sentence("a settle that is repeated archives nothing twice")
  void archiveRepeated() {
    with(Archive.FULL);
    List<UUID> ids = idsOf(committed("k", 3));
    for (Claim claim = claim(); !claim.messages().isEmpty(); claim = claim()) {
      for (int i = 0; i < 3; i++) {
        settle(claim, Decision.delivered());
      }
    }
    assertArchived("after each settle was repeated", ids);
  }

  @Test
  @Rule("S7")
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
    settle(claim, decisions);
    assertArchived("after the settle was repeated", ids);
  }

  @Test
  @Rule("S7")
  @Sentence("a settle after another took over archives nothing; the other's does")
  void archiveStale() {
    with(Archive.FULL);
    OutboxMessage message = committed(message("k"));
    TakenOver claims = takenOver();
    settle(claims.stale(), delivered(() -> "stale"));
    settle(claims.current(), Map.of());
    Claim again = claim();
    requires("S1", () -> assertCame(ids(again)).containsExactly(message.id()));
    assertArchived("after the stale settle", List.of());
    settle(again, delivered(() -> "current"));
    settle(claims.stale(), delivered(() -> "stale"));
    assertThat(one(ALL.id(message.id())).answer()).as("whose answer").isEqualTo("current");
  }

  @Test
  @Rule("S7")
  @Sentence("a settle whose connection breaks has archived what is gone, and nothing else")
  void archiveBreaksOff() {
    BreaksConnections fixture = tck.fixture(BreaksConnections.class);
    boolean broke = true;
    for (int write = 1; broke && write <= MOST_WRITES; write++) {
      tck.prepare();
      with(Archive.FULL);
      List<UUID> ids = idsOf(committed("k", 3));
      Claim claim = claimAtLeast(3, soon());
      Map<Long, Decision> decisions = all(claim, Decision.delivered());
      broke = fixture.breakingAtWrite(write, () -> claim.settle(decisions));
      List<UUID> gone = ids(messages(archived(ALL)));
      OutboxMessage last = committed(message("k"));
      List<UUID> came = new ArrayList<>();
      await(
          "a message appended to the key after its connection had broken at write %d of a settle"
              .formatted(write),
          () -> {
            came.addAll(ids(drain()));
            return came.contains(last.id()) ? true : null;
          });
      came.remove(last.id());
      assertCame(Stream.concat(gone.stream(), came.stream()).toList())
          .as(
              "archived when write %d of a settle had broken, or still due then, which is one of the two",
              write)
          .containsExactlyInAnyOrderElementsOf(ids);
      List<UUID> expected = new ArrayList<>(ids);
      expected.add(last.id());
      assertArchived("after write %d of a settle had broken".formatted(write), expected);
    }
  }

  @Test
  @Rule("S7")
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
    assertArchived("after a settle of messages that are gone", List.of());
    settle(after, Decision.delivered());
    requires("S3", () -> assertCame(drain()).hasSize(others.size() - after.messages().size()));
    assertArchived("after the others were delivered", others);
  }
}
