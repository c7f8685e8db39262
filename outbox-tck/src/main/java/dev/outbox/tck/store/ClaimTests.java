package dev.outbox.tck.store;

import static dev.outbox.tck.internal.Decisions.each;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.OpenWork;
import dev.outbox.tck.internal.Sentence;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;

/** C1 to C3, C6 and C10. That relays publish nothing that expired is not the store's. */
@DisplayName("Claim")
@Rule("C10")
abstract class ClaimTests<T> extends StoreTests<T> {
  /** How many claims count as bounded here: many times what any fair way to choose needs. */
  private static final int MAX_CLAIMS = 500;

  static final Instant OVER = Instant.parse("2001-09-09T01:46:40.123456Z");
  private static final Instant FAR = Instant.parse("2999-12-31T23:59:59.999999Z");
  private static final Duration OFF = Duration.ofMinutes(10);

  @Rule("C1")
  @Sentence("a claimed message and others of its key are in no other claim, new ones neither")
  void keyNotTwice() {
    committed("k", 5);
    Claim claim = claim(2, LONG);
    expect("messages of a claim of at most 2", claim.messages().size()).isBetween(1, 2);
    assertNothingDue("messages of a key that is claimed");
    assertCame("messages of a key that is claimed, by another store", claim(tck.createStore()))
        .isEmpty();
    committed("k", 5);
    assertNothingDue("messages that were appended to a key that is claimed");
    release(claim);
    assertCame("claimed, after the claim was settled", drain()).hasSize(10);
  }

  @Rule("C1")
  @Sentence("claims that run at the same time share neither keys nor messages")
  void concurrentClaims() {
    committed(120, i -> "k" + i % 40);
    List<OutboxStore<T>> stores = Stream.generate(() -> tck.createStore()).limit(4).toList();
    Claim.Request few = request(3, LONG);
    for (int round = 0; round < 15; round++) {
      List<List<Claim>> twoEach =
          atOnce("claim", stores, store -> List.of(claim(store, few), claim(store, few)));
      List<Claim> claims = twoEach.stream().flatMap(List::stream).toList();
      assertShareNothing(claims);
      claims.forEach(this::release);
    }
  }

  private static void assertShareNothing(List<Claim> claims) {
    Set<Long> sequences = new HashSet<>();
    Map<String, Claim> holders = new HashMap<>();
    for (Claim claim : claims) {
      for (StoredMessage message : claim.messages()) {
        assertThat(sequences.add(message.sequence()))
            .as("message %s is in one live claim only", message.sequence())
            .isTrue();
        assertThat(holders.computeIfAbsent(message.key(), key -> claim))
            .as("key %s is in one live claim only", message.key())
            .isSameAs(claim);
      }
    }
  }

  @Rule("C2")
  @Sentence("messages of a key come in sequence order from the oldest on, without a gap")
  void inOrderWithoutGap() {
    List<OutboxMessage> messages = committed(100, i -> i % 5 < 3 ? "k" : "l" + i % 7);
    Map<String, List<UUID>> expected = new LinkedHashMap<>();
    messages.forEach(m -> expected.computeIfAbsent(m.key(), k -> new ArrayList<>()).add(m.id()));
    expect("duplicates of no messages", commit(List.of())).isEmpty();
    Map<String, List<UUID>> came = new LinkedHashMap<>();
    for (int most : List.of(10, 30)) {
      Claim claim = claim(most, LONG);
      expect("what is due now", claim.messages()).isNotEmpty();
      claim
          .messages()
          .forEach(m -> came.computeIfAbsent(m.key(), k -> new ArrayList<>()).add(id(m)));
      came.forEach(
          (key, ids) ->
              assertCame("key %s, from its oldest on and without a gap".formatted(key), ids)
                  .inOrder(requireNonNull(expected.get(key)).subList(0, ids.size())));
      settle(claim, Decision.delivered());
    }
    drain().forEach(m -> came.computeIfAbsent(m.key(), k -> new ArrayList<>()).add(id(m)));
    requires(
        "S3", () -> expect("keys and their messages, of all that came", came).isEqualTo(expected));
  }

  @Rule("C2")
  @Sentence("a claim has no more messages and bytes than asked for, but one always comes")
  void atMost() {
    committed(30, i -> "k" + i % 3);
    for (int max : List.of(1, 2, 7, 1_000_000)) {
      Claim claim = claim(max, LONG);
      expect("messages of a claim", claim.messages().size()).isBetween(1, max);
      release(claim);
    }
    tck.prepare();
    List<OutboxMessage> messages =
        IntStream.range(0, 10)
            .mapToObj(i -> message("k").payload(new byte[1_000]).build())
            .toList();
    commit(messages);
    Claim some = claim(new Claim.Request("tck", 100, 3_500, LONG));
    expect("messages of 1,000 bytes in 3,500", some.messages().size()).isBetween(1, 3);
    assertCame("the oldest", some).inOrder(idsOf(messages).subList(0, some.messages().size()));
    release(some);
    Claim one = claim(new Claim.Request("tck", 100, 1, LONG));
    assertCame("a message larger than all that was asked for comes alone", one)
        .inOrder(messages.get(0));
    release(one);
    assertCame("all that came", drain()).inOrder(messages);
  }

  @Rule("C3")
  @Sentence("claim returns, with what else is due, while a producer's transaction is open")
  void doesNotWaitForProducers() {
    OutboxMessage before = committed(message("other"));
    try (OpenWork<T> transaction = tck.open()) {
      List<OutboxMessage> open =
          IntStream.range(0, 200).mapToObj(i -> message("k" + i % 50).build()).toList();
      append(transaction, open);
      List<UUID> delivered = ids(drain());
      assertCame("due beside an open transaction", delivered).contains(before);
      transaction.rollback();
    }
  }

  @Rule("C3")
  @Sentence("a claim of nothing is empty, and can be renewed and settled")
  void empty() {
    Claim claim = claim();
    expect("claimed from an empty store", claim.messages()).isEmpty();
    expect("renewed", claim.renew(LONG)).isEmpty();
    expect("what settle says was lost", claim.settle(Map.of())).isEmpty();
    committed("k", 1);
    assertCame("due, after an empty claim was settled", drain()).hasSize(1);
    claim(); // and an empty claim that is never settled holds nothing
    committed("k", 1);
    assertCame("due, beside an empty claim that is not settled", drain()).hasSize(1);
  }

  private List<OutboxMessage> oneOfEach(int keys) {
    return committed(keys, i -> "k" + i);
  }

  /** Claims until the message comes, deciding by {@code others} on what comes instead. */
  private void assertComes(
      OutboxMessage wanted, int max, Function<StoredMessage, Decision> others) {
    for (int i = 0; i < MAX_CLAIMS; i++) {
      Claim claim = claim(max, LONG);
      if (ids(claim).contains(wanted.id())) {
        return;
      }
      claim.settle(each(claim, others));
    }
    throw failed("a due message did not come in %s claims: others keep it away", MAX_CLAIMS);
  }

  private static Decision again() {
    return Decision.retry(Duration.ZERO, "fails at once");
  }

  @Rule("C6")
  @Sentence("after the clock was put back no key waits until the clock has come up again")
  void servedAfterClockPutBack() {
    MovesClock clock = tck.fixture(MovesClock.class);
    oneOfEach(8);
    Set<String> before = servedOneByOne(8);
    clock.moveClock(Duration.ofHours(-1));
    assertThat(servedOneByOne(8))
        .as(
            "keys served after the clock was put back by an hour, while each key always has a message that is due; before it were %s",
            before)
        .hasSize(8);
  }

  /** Delivers one message a claim, and appends the next to its key, until so many keys came. */
  private Set<String> servedOneByOne(int keys) {
    Set<String> served = new TreeSet<>();
    for (int i = 0; i < MAX_CLAIMS && served.size() < keys; i++) {
      Claim claim = claim(1, LONG);
      for (StoredMessage m : claim.messages()) {
        served.add(m.key());
        commit(List.of(message(m.message().aggregateId()).build()));
        settle(claim, Decision.delivered());
      }
    }
    return served;
  }

  @Rule("C6")
  @Sentence("many keys whose heads fail at once do not keep a pending message away")
  void failingHeads() {
    oneOfEach(40);
    for (int i = 0; i < 40; i++) {
      settle(claim(1, LONG), again());
    }
    OutboxMessage wanted = committed(message("wanted"));
    assertComes(wanted, 3, m -> again());
  }

  @Rule("C6")
  @Sentence("a backlog of many keys keeps away neither a retry nor a delayed message, one by one")
  void oneByOne() {
    OutboxMessage retried = committed(message("retried"));
    settle(claim(), again());
    OutboxMessage delayed = committed(message("delayed").deliverAfter(soon()));
    Set<UUID> wanted = new HashSet<>(idsOf(retried, delayed));
    await(
        "a retry and a delayed message, in claims of one message beside a backlog",
        () -> {
          committed(1_000, i -> "k" + i % 300);
          for (int i = 0; i < MAX_CLAIMS && !wanted.isEmpty(); i++) {
            Claim claim = claim(1, LONG);
            ids(claim).forEach(wanted::remove);
            settle(claim, Decision.delivered());
          }
          assertThat(wanted).as("a retry that is due").doesNotContain(retried.id());
          return wanted.isEmpty() ? true : null;
        });
  }

  @Rule("C6")
  @Sentence("one key with a long backlog does not keep other keys away")
  void longKey() {
    committed("long", 1_000);
    OutboxMessage wanted = committed(message("wanted"));
    assertComes(wanted, 1, m -> Decision.delivered());
  }

  // ---- expiry

  private void assertGone(String what) {
    assertNothingDue(what);
    if (store() instanceof DeadLetterStore) {
      expect("dead letters", listedDead()).isEmpty();
    }
  }

  @Sentence("a message whose time is over is claimed as expired, no other is; the time comes back")
  void claimedAsExpired() {
    tck.fixture(ExpiresMessages.class);
    OutboxMessage over = committed(message("over").expiresAt(OVER));
    OutboxMessage later = committed(message("later").expiresAt(FAR));
    committed(message("after").expireAfter(LONG));
    committed("never", 1);
    List<StoredMessage> came = drain();
    expect("messages that came", came).hasSize(4);
    for (StoredMessage message : came) {
      expect("whether it has expired, of " + message, message.expired())
          .isEqualTo(id(message).equals(over.id()));
      if (List.of(over.id(), later.id()).contains(id(message))) {
        assertSame(message.message(), id(message).equals(over.id()) ? over : later);
      }
    }
  }

  @Sentence("expireAfter counts from the append, and comes back as the time that it leads to")
  void expireAfter() {
    tck.fixture(ExpiresMessages.class);
    committed(message("k").expireAfter(LONG));
    assertExpiresAfter(LONG, drain().get(0));
    committed(message("k").expireAfter(soon()));
    assertExpiresAfter(soon(), first(awaitExpired("the end of a message's time")));
  }

  private static void assertExpiresAfter(Duration time, StoredMessage expired) {
    OutboxMessage came = expired.message();
    expect("expireAfter of a message handed out", came.expireAfter()).isNull();
    assertThat(came.expiresAt())
        .as("expiresAt of a message that was appended with expireAfter %s", time)
        .isNotNull()
        .isBetween(
            expired.createdAt().plus(time).minusSeconds(1),
            expired.createdAt().plus(time).plusSeconds(60));
  }

  @Sentence(
      "settled as expired it is gone, also when delayed, is no dead letter, and its key goes on")
  void settledAsExpired() {
    tck.fixture(ExpiresMessages.class);
    committed(message("k").expiresAt(OVER));
    assertGoesOn(claim(), committed(message("k")));
    committed(message("k").expiresAt(OVER).deliverAfter(tck.shortTime().dividedBy(10)));
    Claim claim = awaitClaim("a delayed message");
    assertGoesOn(claim, committed(message("k")));
  }

  private void assertGoesOn(Claim claim, OutboxMessage next) {
    expect("expired", first(claim).expired()).isTrue();
    expect("what settle says was lost", settleFirst(claim, Decision.expired())).isEmpty();
    settleFirst(claim, Decision.expired()); // once more, and nothing happens twice
    assertCame("after a message of the key has expired", drain()).inOrder(next);
    assertGone("one expired, and one was delivered");
  }

  @Sentence("one that expires while it waits for a retry leaves, and the next of its key comes")
  void expiresWhileItWaits() {
    tck.fixture(ExpiresMessages.class);
    committed(message("k").expireAfter(soon()));
    OutboxMessage next = committed(message("k"));
    settleFirst(claim(), Decision.retry(Duration.ZERO, "refused"));
    Claim expired = awaitExpired("the end of the time of a message that failed");
    expect("attempts", first(expired).attempts()).isEqualTo(1);
    settleFirst(expired, Decision.expired());
    assertCame("behind one that failed and expired", awaitDrained(1)).inOrder(next);
    assertGone("one expired, and one was delivered");
  }

  @Rule({"C10", "S2"})
  @Sentence("one that expires behind another that fails leaves, and the other stays")
  void expiresBehindAnother() {
    tck.fixture(ExpiresMessages.class);
    OutboxMessage head = committed(message("k"));
    committed(message("k").expiresAt(OVER));
    OutboxMessage last = committed(message("k"));
    Claim claim = claimAtLeast(2, LONG);
    claim.settle(
        Map.of(
            first(claim).sequence(),
            Decision.retry(Duration.ZERO, "refused"),
            claim.messages().get(1).sequence(),
            Decision.expired()));
    assertCame("around one that expired", awaitDrained(2)).inOrder(head, last);
    assertGone("one expired, and two were delivered");
  }

  @Sentence("a dead letter whose time is over is claimed as expired when it is requeued")
  void expiresRequeued() {
    tck.fixture(ExpiresMessages.class);
    committed(message("k").expiresAt(OVER));
    requeue(die(true));
    expect("expired", first(awaitClaim("what was requeued")).expired()).isTrue();
  }

  @Rule({"C10", "S1"})
  @Sentence("a settle after another took over lets nothing expire")
  void expiresForOneThatLostIt() {
    tck.fixture(ExpiresMessages.class);
    OutboxMessage message = committed(message("k").expiresAt(OVER));
    TakenOver claims = takenOver();
    expect("lost", settle(claims.stale(), Decision.expired())).hasSize(1);
    release(claims.current());
    assertCame("after the settle of one that lost it", claim()).inOrder(message);
  }

  @Rule({"C10", "T1"})
  @Sentence("a time is over by the store's clock, whatever the clients' clocks say")
  void expiresByStoresClock() {
    tck.fixture(ExpiresMessages.class);
    ClientClocks<T> fixture = tck.fixture(ClientClocks.class);
    for (Duration off : List.of(OFF, OFF.negated())) {
      tck.prepare();
      OutboxStore<T> wrong = fixture.createStore(Clock.offset(Clock.systemUTC(), off));
      OutboxMessage message = message("k").expireAfter(OFF.dividedBy(2)).build();
      tck.inTransaction(t -> wrong.append(t, List.of(message)));
      for (OutboxStore<T> by : List.of(store(), wrong)) {
        Claim claim = claim(by);
        expect("expired at once, where one clock is off by " + off, first(claim).expired())
            .isFalse();
        release(claim);
      }
    }
  }
}
