package dev.outbox.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.outbox.Archive;
import dev.outbox.Header;
import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.ArchiveStore;
import dev.outbox.spi.ArchiveStore.Archived;
import dev.outbox.spi.ArchiveStore.Outcome;
import dev.outbox.spi.ArchiveStore.Search;
import dev.outbox.spi.AuditStore;
import dev.outbox.spi.Claim;
import dev.outbox.spi.DeadLetterStore;
import dev.outbox.spi.Decision;
import dev.outbox.spi.ErrorText;
import dev.outbox.spi.OutboxStore;
import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
import dev.outbox.spi.Who;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** S7: what leaves the store is in its archive, once. */
abstract class ArchiveTests<T> extends StoreTests<T> {
  private static final Instant EVER = Instant.parse("2100-01-01T00:00:00Z");
  private static final Search ALL = Search.between(Instant.EPOCH, EVER);
  private static final Who SOMEBODY = new Who("alice", "the consumer was wrong");

  /** More than any test archives. */
  private static final int MANY = 1_000;

  /** A settle of three messages that needs more is not broken at each of them. */
  private static final int MOST_WRITES = 12;

  ArchiveTests(OutboxStoreTck<T> tck) {
    super(tck);
  }

  // ---- words

  private ArchiveStore with(Archive archive) {
    Archives<T> fixture = tck.fixture(Archives.class);
    OutboxStore<T> store = fixture.createStore(archive);
    tck.use(store);
    return tck.ability(ArchiveStore.class);
  }

  private List<Archived> archived(Search search) {
    ArchiveStore store = tck.ability(ArchiveStore.class);
    return call("archived", () -> store.archived(search, MANY));
  }

  private static List<StoredMessage> messages(List<Archived> archived) {
    return archived.stream().map(Archived::message).toList();
  }

  private void assertArchived(String when, List<UUID> expected) {
    assertCame(messages(archived(ALL)))
        .as("the archive, %s", when)
        .containsExactlyInAnyOrderElementsOf(expected);
  }

  private static Decision delivered(Supplier<String> answer) {
    return Decision.delivered((Result.Delivered) Result.delivered(answer));
  }

  private Archived one(Search search) {
    List<Archived> found = archived(search);
    assertThat(found).as("what is archived of %s", search).hasSize(1);
    return found.get(0);
  }

  private static OutboxMessage.Builder full(String order) {
    return message(order)
        .partitionKey("party \uD83C\uDF89 " + order)
        .contentType("application/octet-stream")
        .payload(new byte[] {0, -1, 127, '\\', '\''})
        .header("b", "2")
        .header("a", "")
        .header("b", "\u00FC")
        .dedupKey("dedup " + UUID.randomUUID())
        .correlationId("correlation")
        .maxAttempts(7);
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
    String hostile = "\u0000\uD800' \\ \u202E" + "x".repeat(3 * ErrorText.MAX);
    committed(message("long"));
    settle(claim(), delivered(() -> hostile));
    assertThat(one(ALL.key(key("long"))).answer())
        .as("a long answer with what no database stores")
        .isEqualTo(ErrorText.clean(hostile));
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
      settle(awaitClaim("the requeued message"), Decision.dead("rejected again"));
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
      assertThat(archived.message().attempts()).as("attempts").isEqualTo(1);
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
    ArchiveStore store = tck.ability(ArchiveStore.class);
    assertThatThrownBy(() -> store.replay(List.of(archived), SOMEBODY))
        .as("replay of what cannot be decoded")
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(Long.toString(sequence));
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

  // ---- looking and replaying

  @Test
  @Rule("S7")
  @Sentence("the archive is searched by key, aggregate, type, id and time, and read page by page")
  void archiveSearched() {
    ArchiveStore store = with(Archive.METADATA);
    List<UUID> ids = idsOf(committed("a", 3));
    OutboxMessage other = committed(message("b").eventType("OrderPaid").partitionKey("party"));
    requires("O1", () -> assertCame(drain()).hasSize(4));
    assertCame(messages(archived(ALL.key(key("a"))))).containsExactlyElementsOf(ids);
    assertCame(messages(archived(ALL.key("party")))).containsExactly(other.id());
    assertCame(messages(archived(ALL.aggregateType("order")))).hasSize(4);
    assertCame(messages(archived(ALL.aggregateType("customer")))).isEmpty();
    assertCame(messages(archived(ALL.aggregateId("b")))).containsExactly(other.id());
    assertCame(messages(archived(ALL.eventType("OrderPaid")))).containsExactly(other.id());
    assertCame(messages(archived(ALL.id(ids.get(1))))).containsExactly(ids.get(1));
    Archived last = one(ALL.id(other.id()));
    assertThat(ids(messages(archived(Search.between(Instant.EPOCH, last.at())))))
        .as("what left before the last of them")
        .doesNotContain(other.id());
    assertThat(ids(messages(archived(Search.between(last.at(), EVER)))))
        .as("from then on")
        .contains(other.id());
    List<StoredMessage> paged = new ArrayList<>();
    Search page = ALL;
    for (List<Archived> some = store.archived(page, 2);
        !some.isEmpty();
        some = store.archived(page, 2)) {
      assertThat(some).as("a page of 2").hasSizeLessThanOrEqualTo(2);
      paged.addAll(messages(some));
      page = ALL.after(some.get(some.size() - 1).position());
    }
    assertCame(paged).as("all pages").containsExactlyElementsOf(ids(messages(archived(ALL))));
    assertThatThrownBy(() -> store.archived(ALL, 0))
        .as("archived with a limit of 0")
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  @Rule("S7")
  @Sentence("a replay appends again, in order, as new messages that say which they repeat")
  void archiveReplayed() {
    ArchiveStore store = with(Archive.FULL);
    AuditStore audit = tck.ability(AuditStore.class);
    OutboxMessage first = committed(full("k"));
    OutboxMessage second = committed(full("k"));
    List<StoredMessage> came = drain();
    requires("O1", () -> assertCame(came).containsExactlyElementsOf(idsOf(first, second)));
    requires(
        "A3",
        () -> assertThat(came).extracting(StoredMessage::message).containsExactly(first, second));
    List<Archived> archived = archived(ALL);
    assertThat(call("replay", () -> store.replay(archived, SOMEBODY)).allStored())
        .as("whether all were appended again")
        .isTrue();
    List<StoredMessage> again = drain();
    assertThat(again).as("due after a replay").hasSize(2);
    for (int i = 0; i < 2; i++) {
      OutboxMessage old = i == 0 ? first : second;
      OutboxMessage replayed = again.get(i).message();
      assertThat(replayed.id()).as("the id of a replay").isNotEqualTo(old.id());
      assertThat(replayed.key()).as("key").isEqualTo(old.key());
      assertThat(replayed.payload()).as("payload").isEqualTo(old.payload());
      List<Header> headers = new ArrayList<>(old.headers());
      headers.add(new Header(Header.REPLAY_OF, old.id().toString()));
      assertThat(replayed.headers()).as("headers").isEqualTo(headers);
      assertThat(replayed.dedupKey()).as("dedup key").isNull();
    }
    assertArchived(
        "after the replays were delivered",
        List.of(first.id(), second.id(), id(again.get(0)), id(again.get(1))));
    assertThat(audit.audit(Instant.EPOCH, MANY))
        .as("the audit")
        .extracting(AuditStore.Entry::action, AuditStore.Entry::who, AuditStore.Entry::id)
        .containsExactlyInAnyOrder(
            tuple(AuditStore.Action.REPLAYED, "alice", first.id().toString()),
            tuple(AuditStore.Action.REPLAYED, "alice", second.id().toString()));
  }

  @Test
  @Rule("S7")
  @Sentence("metadata cannot be replayed, and a store without an archive has no audit")
  void archiveNotReplayed() {
    ArchiveStore store = with(Archive.METADATA);
    committed("k", 1);
    settle(claim(), Decision.delivered());
    List<Archived> archived = archived(ALL);
    assertThatThrownBy(() -> store.replay(archived, SOMEBODY))
        .as("replay of metadata")
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("full");
    assertNothingDue("a replay that was refused appends nothing");
    with(Archive.NONE);
    committed("k", 1);
    Claim claim = claim();
    settle(claim, Decision.dead("rejected"));
    AuditStore none = tck.ability(AuditStore.class);
    assertThatThrownBy(() -> none.discard(first(claim).sequence(), SOMEBODY))
        .as("discard with an audit that is not there")
        .isInstanceOf(OutboxException.class);
    assertThat(none.deadLetters(0, 10)).as("dead letters after that").hasSize(1);
  }

  @Test
  @Rule("S7")
  @Sentence("who requeues and discards, and why, is in the audit")
  void archiveAudited() {
    with(Archive.METADATA);
    AuditStore store = tck.ability(AuditStore.class);
    OutboxMessage message = committed(message("k"));
    Claim claim = claim();
    long sequence = first(claim).sequence();
    settle(claim, Decision.dead("rejected"));
    assertThat(call("requeue", () -> store.requeue(sequence, SOMEBODY))).isTrue();
    settle(awaitClaim("the requeued message"), Decision.dead("rejected"));
    Who other = Who.named("bob");
    assertThat(call("discard", () -> store.discard(sequence, other))).isTrue();
    assertThat(call("discard", () -> store.discard(sequence, other)))
        .as("whether it was discarded twice")
        .isFalse();
    List<AuditStore.Entry> entries = store.audit(Instant.EPOCH, MANY);
    assertThat(entries)
        .extracting(AuditStore.Entry::action)
        .as("what was done")
        .containsExactly(AuditStore.Action.REQUEUED, AuditStore.Action.DISCARDED);
    assertThat(entries)
        .allSatisfy(
            entry -> {
              assertThat(entry.sequence()).isEqualTo(sequence);
              assertThat(entry.id()).isEqualToIgnoringCase(message.id().toString());
            });
    assertThat(entries.get(0).reason()).as("why").isEqualTo(SOMEBODY.reason());
    assertThat(entries.get(1).who()).as("who").isEqualTo("bob");
    assertThat(entries.get(1).reason()).as("why, when it was not said").isNull();
    assertThat(store.audit(Instant.EPOCH, 1)).as("the first entry").hasSize(1);
  }
}
