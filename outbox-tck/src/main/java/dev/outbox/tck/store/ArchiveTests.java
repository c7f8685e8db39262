package dev.outbox.tck.store;

import static dev.outbox.tck.internal.Decisions.all;
import static dev.outbox.tck.internal.Decisions.each;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.outbox.Archive;
import dev.outbox.Header;
import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.Texts;
import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.ArchiveStore.Action;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Entry;
import dev.outbox.spi.store.ArchiveStore.Outcome;
import dev.outbox.spi.store.ArchiveStore.Position;
import dev.outbox.spi.store.ArchiveStore.Search;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.BreaksConnections;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.InThread;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;

/**
 * S7: what leaves the store is in its archive, once, and is found, replayed and decided about
 * there.
 */
@DisplayName("Archive")
@Rule("S7")
abstract class ArchiveTests<T> extends StoreTests<T> {
  private static final Instant EVER = Instant.parse("2100-01-01T00:00:00Z");
  private static final Search ALL = Search.between(Instant.EPOCH, EVER);
  private static final Who SOMEBODY = new Who("alice", "the consumer was wrong");

  /** More than any test archives. */
  private static final int MANY = 1_000;

  private ArchiveStore with(Archive archive) {
    return with(archive, null);
  }

  private ArchiveStore with(Archive archive, @Nullable Duration deadLetterRetention) {
    Archives<T> fixture = tck.fixture(Archives.class);
    OutboxStore<T> store = fixture.createStore(archive, deadLetterRetention);
    tck.use(store);
    return tck.ability(ArchiveStore.class);
  }

  private List<Archived> archived(Search search) {
    return tck.ability(ArchiveStore.class).archived(search, MANY);
  }

  private static List<StoredMessage> messages(List<Archived> archived) {
    return archived.stream().map(Archived::message).toList();
  }

  private void assertArchived(String when, Object... expected) {
    assertCame("the archive, %s".formatted(when), messages(archived(ALL))).inAnyOrder(expected);
  }

  private Archived one(Search search) {
    List<Archived> found = archived(search);
    expect("what is archived of %s".formatted(search), found).hasSize(1);
    return found.get(0);
  }

  /** That this message alone is archived, and how it left. */
  private void assertLeft(
      OutboxMessage message, Outcome outcome, @Nullable String error, int attempts) {
    Archived archived = one(ALL);
    expect("id of what left", id(archived.message())).isEqualTo(message.id());
    expect("outcome of what left", archived.outcome()).isEqualTo(outcome);
    expect("error of what left", archived.error()).isEqualTo(error);
    expect("attempts that had failed", archived.message().attempts()).isEqualTo(attempts);
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
    OutboxMessage message = committed(message("k").expiresAt(ClaimTests.OVER).header("h", "v"));
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
    store().housekeep();
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
              store().housekeep();
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
    tck.call("housekeep", housekeeping::join);
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

  @Sentence(
      "the archive is searched by key, aggregate, type, id, time and why it left, and by all of them")
  void archiveSearched() {
    ArchiveStore store = with(Archive.METADATA);
    List<UUID> ids = idsOf(committed("a", 3));
    OutboxMessage other = committed(message("b").eventType("OrderPaid").partitionKey("party"));
    requires("O1", () -> assertCame(drain()).hasSize(4));
    assertFound("all", ALL, ids, other);
    assertFound("of a key", ALL.key(key("a")), ids);
    assertFound("of a partition key", ALL.key("party"), other);
    assertFound("of a type and a key", ALL.aggregateType("order").key(key("a")), ids);
    assertFound("of another type", ALL.aggregateType("customer"));
    assertFound("of an aggregate", ALL.aggregateId("b"), other);
    assertFound("of an event type", ALL.eventType("OrderPaid"), other);
    assertFound("with an id", ALL.id(ids.get(1)), ids.subList(1, 2));
    assertFound(
        "with the id of one and the event type of another",
        ALL.id(ids.get(1)).eventType("OrderPaid"));
    OutboxMessage discarded = committed(message("c"));
    long sequence = die(false);
    requires("O3", () -> assertThat(discard(sequence)).isTrue());
    assertFound("discarded", ALL.outcome(Outcome.DISCARDED), discarded);
    assertFound("delivered, of a key", ALL.outcome(Outcome.DELIVERED).key(key("a")), ids);
    assertFound("discarded, of the key of others", ALL.outcome(Outcome.DISCARDED).key(key("a")));
    assertFound("expired", ALL.outcome(Outcome.EXPIRED));
    Archived last = one(ALL.id(other.id()));
    assertThat(ids(messages(archived(Search.between(Instant.EPOCH, last.at())))))
        .as("what left before the last of them")
        .doesNotContain(other.id());
    expect("from then on", ids(messages(archived(Search.between(last.at(), EVER)))))
        .contains(other.id());
    assertRefused("archived with a limit of 0", "", () -> store.archived(ALL, 0));
  }

  /** What a search finds, and that a store that asks the search itself finds the same. */
  private void assertFound(String which, Search search, Object... expected) {
    List<Archived> found = archived(search);
    assertCame("a search for those that left, %s".formatted(which), messages(found))
        .inAnyOrder(expected);
    assertThat(found)
        .as("a search for those that left, %s, beside what it includes of all", which)
        .extracting(Archived::position)
        .isEqualTo(
            archived(ALL).stream().filter(search::includes).map(Archived::position).toList());
  }

  @Sentence("page by page each comes once, in one order, also of those that left at one time")
  void archivePaged() {
    ArchiveStore store = with(Archive.METADATA);
    List<UUID> ids = idsOf(committed("a", 5), committed("b", 4));
    requires("C6", () -> assertCame(drain()).hasSize(ids.size()));
    List<UUID> all = ids(messages(archived(ALL)));
    expect("the archive, read at once", all).containsExactlyInAnyOrderElementsOf(ids);
    for (int size : new int[] {1, 2, 4}) {
      List<StoredMessage> paged = new ArrayList<>();
      Search rest = ALL;
      for (List<Archived> page = store.archived(rest, size);
          !page.isEmpty() && paged.size() <= ids.size();
          page = store.archived(rest, size)) {
        expect("a page of %s".formatted(size), page).hasSizeLessThanOrEqualTo(size);
        paged.addAll(messages(page));
        Position end = page.get(page.size() - 1).position();
        rest = ALL.after(Position.parse(end.toString())); // as a later process is told
      }
      assertCame("all pages of %s".formatted(size), paged).inOrder(all);
    }
  }

  @Sentence("a replay appends again, in order, as new messages that say which they repeat")
  void archiveReplayed() {
    ArchiveStore store = with(Archive.FULL);
    OutboxMessage first = committed(full("k"));
    OutboxMessage second = committed(full("k"));
    List<StoredMessage> came = drain();
    requires("O1", () -> assertCame(came).inOrder(first, second));
    requires(
        "A3",
        () -> assertThat(came).extracting(StoredMessage::message).containsExactly(first, second));
    List<Archived> archived = archived(ALL);
    assertThat(store.replay(archived, SOMEBODY).allStored())
        .as("whether all were appended again")
        .isTrue();
    List<StoredMessage> again = drain();
    expect("due after a replay", again).hasSize(2);
    for (int i = 0; i < 2; i++) {
      OutboxMessage old = i == 0 ? first : second;
      OutboxMessage replayed = again.get(i).message();
      expect("the id of a replay", replayed.id()).isNotEqualTo(old.id());
      expect("key", replayed.key()).isEqualTo(old.key());
      expect("payload", replayed.payload()).isEqualTo(old.payload());
      List<Header> headers = new ArrayList<>(old.headers());
      headers.add(new Header(Header.REPLAY_OF, old.id().toString()));
      expect("headers of a replay", replayed.headers()).isEqualTo(headers);
      expect("dedup key", replayed.dedupKey()).isNull();
    }
    assertArchived("after the replays were delivered", first, second, again);
    expect("the audit", store.audit(Instant.EPOCH, MANY))
        .extracting(Entry::action, Entry::who, Entry::id)
        .containsExactlyInAnyOrder(
            tuple(Action.REPLAYED, "alice", first.id().toString()),
            tuple(Action.REPLAYED, "alice", second.id().toString()));
  }

  @Sentence("a replay with one that cannot be decoded names it, and appends none of them")
  void archiveReplayedWhole() {
    ArchiveStore store = with(Archive.FULL);
    committed("k", 1);
    settle(claim(), Decision.delivered());
    insertUndecodable("k");
    Claim claim = requires("C7", () -> claim());
    long sequence = first(claim).sequence();
    settle(claim, Decision.dead("undecodable"));
    discard(sequence);
    List<Archived> both = archived(ALL);
    expect("archived", both).hasSize(2);
    expect("those that are archived", both)
        .extracting(one -> one.message().key(), one -> one.message().sequence())
        .contains(tuple(key("k"), sequence));
    assertRefused(
        "replay of one that can be decoded and one that cannot",
        Long.toString(sequence),
        () -> store.replay(both, SOMEBODY));
    expect("how many are due after a replay that was refused", claim().messages().size()).isZero();
    expect("the audit of it", store.audit(Instant.EPOCH, MANY)).isEmpty();
    assertThat(store.replay(List.of(), SOMEBODY).allStored())
        .as("whether a replay of nothing stored all")
        .isTrue();
  }

  @Sentence("metadata cannot be replayed, and a store without an archive has no audit")
  void archiveNotReplayed() {
    ArchiveStore store = with(Archive.METADATA);
    committed("k", 1);
    settle(claim(), Decision.delivered());
    List<Archived> archived = archived(ALL);
    assertRefused("replay of metadata", "full", () -> store.replay(archived, SOMEBODY));
    assertNothingDue("a replay that was refused appends nothing");
    ArchiveStore none = with(Archive.NONE);
    committed("k", 1);
    long sequence = die(false);
    assertThatThrownBy(
            () -> none.discard(Set.of(sequence), SOMEBODY),
            "discard with an audit that is not there")
        .isInstanceOf(OutboxException.class);
    expect("dead letters after that", none.deadLetters(0, 10)).hasSize(1);
  }

  @Sentence("who requeues and discards, and why, is in the audit, for each that was a dead letter")
  void archiveAudited() {
    ArchiveStore store = with(Archive.METADATA);
    committed(3, i -> "k" + i);
    List<StoredMessage> dead = decideAll(100, m -> dead(false));
    List<Long> sequences = dead.stream().map(StoredMessage::sequence).toList();
    Set<Long> two = Set.of(sequences.get(0), sequences.get(1));
    Set<Long> asked = Set.of(sequences.get(0), sequences.get(1), Long.MAX_VALUE);
    expect("which were requeued", store.requeue(asked, SOMEBODY)).isEqualTo(two);
    Set<Long> all = Set.copyOf(sequences);
    for (Set<Long> left : List.of(Set.of(sequences.get(2)), Set.<Long>of())) {
      expect("which were discarded", store.discard(all, Who.named("bob"))).isEqualTo(left);
    }
    List<Entry> entries = store.audit(Instant.EPOCH, MANY);
    assertThat(entries)
        .extracting(Entry::action, Entry::who, Entry::reason, Entry::sequence)
        .as("the audit")
        .containsExactlyInAnyOrder(
            tuple(Action.REQUEUED, SOMEBODY.name(), SOMEBODY.reason(), sequences.get(0)),
            tuple(Action.REQUEUED, SOMEBODY.name(), SOMEBODY.reason(), sequences.get(1)),
            tuple(Action.DISCARDED, "bob", null, sequences.get(2)));
    assertThat(entries.get(2).action()).as("the last entry").isEqualTo(Action.DISCARDED);
    assertThat(entries.get(2).id())
        .as("the id of the last entry")
        .isEqualToIgnoringCase(dead.get(2).message().id().toString());
    expect("the first entry", store.audit(Instant.EPOCH, 1)).hasSize(1);
    expect("archived", archived(ALL)).hasSize(1);
  }

  @Rule("F3")
  @Sentence(
      "who pauses and resumes something stands in the audit, and who resumes nothing does not")
  void archiveAuditsPauses() {
    ArchiveStore store = with(Archive.METADATA);
    PauseStore pausing = tck.ability(PauseStore.class);
    String longest = "\u00e4".repeat(OutboxMessage.MAX_TEXT);
    Who other = Who.named("bob");
    pausing.pause(longest, SOMEBODY);
    pausing.pause(null, other);
    expect("resume", pausing.resume(null, SOMEBODY)).isTrue();
    expect("resume of nothing", pausing.resume(null, other)).isFalse();
    assertThat(store.audit(Instant.EPOCH, MANY))
        .extracting(Entry::action, Entry::who, Entry::reason, Entry::sequence, Entry::id)
        .as("the audit")
        .containsExactly(
            tuple(Action.PAUSED, SOMEBODY.name(), SOMEBODY.reason(), 0L, longest),
            tuple(Action.PAUSED, "bob", null, 0L, ""),
            tuple(Action.RESUMED, SOMEBODY.name(), SOMEBODY.reason(), 0L, ""));
  }

  @Rule({"S8", "S7"})
  @Sentence("what is cancelled before it is due is in the archive, and in the audit who did it")
  void archiveCancelled() {
    ArchiveStore store = with(Archive.FULL);
    CancelTests.skipUnlessItCancels(store);
    OutboxMessage message = committed(full("k").deliverAfter(LONG));
    long sequence =
        tck.ability(InspectionStore.class).messages(Query.first(1)).found().get(0).sequence();
    expect("which were cancelled", store.cancel(Set.of(sequence), SOMEBODY))
        .isEqualTo(Set.of(sequence));
    assertLeft(message, Outcome.DISCARDED, null, 0);
    assertThat(store.audit(Instant.EPOCH, MANY))
        .as("the audit")
        .singleElement()
        .satisfies(
            entry -> {
              expect("action", entry.action()).isEqualTo(Action.DISCARDED);
              expect("sequence", entry.sequence()).isEqualTo(sequence);
            });
  }
}
