package dev.outbox.tck.store;

import static dev.outbox.tck.internal.Decisions.all;
import static dev.outbox.tck.internal.Decisions.each;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.internal.OpenWork;
import dev.outbox.tck.internal.Patience;
import dev.outbox.tck.internal.SuiteTests;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What the tests say, in words of the contract. A store may hand out as little as one message a
 * claim, and leases may cover more than the claimed keys, so no test expects a claim to bring
 * everything, nor one key while another is held.
 */
abstract class StoreTests<T> extends SuiteTests<PatientFixture<T>> {

  private static final int MAX_POLLS = 1_000;

  /** What needs more is not broken at each of them. */
  private static final int MOST_WRITES = 15;

  StoreTests() {}

  StoreTests(PatientFixture<T> tck) {
    super(tck);
  }

  OutboxStore<T> store() {
    return tck.store();
  }

  // ---- append

  /** A message of the key, unlike any other. */
  static OutboxMessage.Builder message(String order) {
    UUID id = UUID.randomUUID();
    return OutboxMessage.builder()
        .id(id)
        .aggregate("order", order)
        .eventType("OrderChanged")
        .payload("{\"id\":\"" + id + "\"}");
  }

  /** The key of {@link #message}s and {@link RawRows.RawRow#of rows} of this order. */
  static String key(String order) {
    return "order/" + order;
  }

  /** Messages of the key, committed in one transaction. */
  List<OutboxMessage> committed(String key, int count) {
    return committed(count, i -> key);
  }

  /** So many messages, of these orders, committed in one transaction. */
  List<OutboxMessage> committed(int count, IntFunction<String> order) {
    List<OutboxMessage> messages =
        IntStream.range(0, count).mapToObj(i -> message(order.apply(i)).build()).toList();
    commit(messages);
    return messages;
  }

  OutboxMessage committed(OutboxMessage.Builder builder) {
    OutboxMessage message = builder.build();
    commit(List.of(message));
    return message;
  }

  /** When a message was appended, and delivered after that, by the store's clock. */
  Instant appended(String order) {
    committed(order, 1);
    Claim claim = claim();
    settle(claim, Decision.delivered());
    return first(claim).createdAt();
  }

  /** Appends in one transaction, and says which were duplicates. */
  Set<UUID> commit(List<OutboxMessage> messages) {
    return tck.commit(t -> store().append(t, messages).duplicates());
  }

  /** The same in a transaction that stays open. */
  Set<UUID> append(OpenWork<T> transaction, List<OutboxMessage> messages) {
    return transaction.call("append", t -> store().append(t, messages).duplicates());
  }

  void append(OpenWork<T> transaction, OutboxMessage message) {
    append(transaction, List.of(message));
  }

  // ---- claim

  Claim.Request request(int maxMessages, Duration lease) {
    return new Claim.Request("tck", maxMessages, 100_000_000, lease);
  }

  /** A claim of up to 100 messages with a long lease. */
  Claim claim() {
    return claim(store());
  }

  Claim claim(Claim.Source by) {
    return claim(by, request(100, LONG));
  }

  Claim claim(int maxMessages, Duration lease) {
    return claim(request(maxMessages, lease));
  }

  /** Claims again while the store says that it makes sense and there is nothing. */
  Claim claim(Claim.Request request) {
    return claim(store(), request);
  }

  Claim claim(Claim.Source by, Claim.Request request) {
    for (int i = 0; i < MAX_POLLS; i++) {
      Claim claim = by.claim(request);
      if (!claim.messages().isEmpty() || !claim.pollAgain()) {
        return claim;
      }
    }
    throw new AssertionError(
        MAX_POLLS + " claims in a row were empty and said that polling again makes sense");
  }

  /** A claim that has the first {@code count} messages; skips the test when it brings fewer. */
  Claim claimAtLeast(int count, Duration lease) {
    Claim claim = claim(100, lease);
    assertSomeCame(claim);
    skipUnless(
        claim.messages().size() >= count,
        "the store hands out fewer than %s messages of a key in a claim",
        count);
    return claim;
  }

  Claim awaitClaim(String what) {
    return await(what, () -> nonEmpty(claim()));
  }

  /** Claims until what comes first has expired; gives back what comes before that. */
  Claim awaitExpired(String what) {
    return await(
        what,
        () -> {
          Claim claim = claim();
          if (!claim.messages().isEmpty() && first(claim).expired()) {
            return claim;
          }
          release(claim);
          return null;
        });
  }

  static @Nullable Claim nonEmpty(Claim claim) {
    return claim.messages().isEmpty() ? null : claim;
  }

  void assertNothingDue(String why) {
    assertCame(why, claim()).isEmpty();
  }

  /** Delivers all that is due now, in the order in which it was claimed. */
  List<StoredMessage> drain() {
    List<StoredMessage> delivered = new ArrayList<>();
    Set<Long> gone = new HashSet<>();
    for (Claim claim = claim(); !claim.messages().isEmpty(); claim = claim()) {
      for (StoredMessage message : claim.messages()) {
        check(
            !gone.contains(message.sequence()),
            "%s was settled as delivered, comes again, and is not gone (S2)",
            message);
      }
      delivered.addAll(claim.messages());
      gone.addAll(sequences(claim));
      gone.removeAll(settle(claim, Decision.delivered()));
      check(
          delivered.size() <= 100_000,
          "a settle loses again and again what the claim has: delivered messages come for ever");
    }
    return delivered;
  }

  /** The same, until this many have come. */
  List<StoredMessage> awaitDrained(int count) {
    List<StoredMessage> delivered = new ArrayList<>();
    tck.await(
        count + " due messages: are they gone (S2)?",
        () -> {
          delivered.addAll(drain());
          return delivered.size() >= count ? delivered : null;
        });
    return delivered;
  }

  // ---- settle

  Set<Long> settle(Claim claim, Decision decision) {
    return claim.settle(all(claim, decision));
  }

  static Decision dead(boolean haltsKey) {
    return haltsKey ? Decision.deadHaltingKey("rejected") : Decision.dead("rejected");
  }

  /** Settles the head of the only due key as dead, and returns its sequence. */
  long die(boolean haltsKey) {
    Claim claim = awaitClaim("a message to settle as dead");
    settleFirst(claim, dead(haltsKey));
    return first(claim).sequence();
  }

  /** A decision for the first message; the others are given back as they were. */
  Set<Long> settleFirst(Claim claim, Decision decision) {
    return claim.settle(Map.of(first(claim).sequence(), decision));
  }

  /** Decides about all that is due, in claims of so many, and gives what it was. */
  List<StoredMessage> decideAll(int maxMessages, Function<StoredMessage, Decision> decision) {
    List<StoredMessage> decided = new ArrayList<>();
    for (Claim claim = claim(maxMessages, LONG);
        !claim.messages().isEmpty();
        claim = claim(maxMessages, LONG)) {
      claim.settle(each(claim, decision));
      decided.addAll(claim.messages());
    }
    return decided;
  }

  /** Gives everything back as it was. */
  void release(Claim claim) {
    claim.settle(Map.of());
  }

  /** A retry for the first message; the others are given back as they were. */
  void retryFirst(Claim claim, Duration delay, boolean counts) {
    settleFirst(
        claim,
        counts ? Decision.retry(delay, "refused") : Decision.retryUncounted(delay, "refused"));
  }

  static StoredMessage first(Claim claim) {
    assertSomeCame(claim);
    return claim.messages().get(0);
  }

  private static void assertSomeCame(Claim claim) {
    check(
        !claim.messages().isEmpty(), "the claim is empty, though a message is due and not claimed");
  }

  // ---- what else a store, or its test class, can do

  DeadLetterStore letters() {
    return tck.ability(DeadLetterStore.class);
  }

  List<DeadLetter> listedDead() {
    return letters().deadLetters(0, 100);
  }

  boolean requeue(long sequence) {
    return letters().requeue(sequence);
  }

  boolean discard(long sequence) {
    return letters().discard(sequence);
  }

  /**
   * Breaks something at its first write, and again at a later one each time, until it has none
   * there. Aborts the test when it has none at all, which shows nothing.
   *
   * @param broke does it, and says whether it came to that write
   */
  static void breakingAtEachWrite(IntPredicate broke) {
    int write = 1;
    while (write <= MOST_WRITES && broke.test(write)) {
      write++;
    }
    skipUnless(write != 1, "breakingAtWrite recognised no write, so it broke nothing");
  }

  void insertUndecodable(String order) {
    RawRows<T> rows = tck.fixture(RawRows.class);
    tck.inTransaction(t -> rows.insertUndecodable(t, RawRows.RawRow.of(order)));
  }

  // ---- words

  /** Delivers what is due until all of these have come, with what came before, and gives all. */
  List<UUID> awaitCame(String what, List<UUID> before, Object... expected) {
    List<UUID> came = new ArrayList<>(before);
    return await(
        what,
        () -> {
          came.addAll(ids(drain()));
          return came.containsAll(CameAssert.ids(expected)) ? came : null;
        });
  }

  /** What came, in a claim, or as messages or ids. */
  static CameAssert assertCame(String what, Object came) {
    return new CameAssert(what, came);
  }

  static CameAssert assertCame(Object came) {
    return assertCame("", came);
  }

  static UUID id(StoredMessage message) {
    expect("problem in decoding " + message, message.problem()).isNull();
    return message.message().id();
  }

  static List<UUID> ids(List<StoredMessage> messages) {
    return messages.stream().map(StoreTests::id).toList();
  }

  static List<UUID> ids(Claim claim) {
    return ids(claim.messages());
  }

  static List<Long> sequences(Claim claim) {
    return claim.messages().stream().map(StoredMessage::sequence).toList();
  }

  /** Of messages, or lists of them. */
  static List<UUID> idsOf(Object... messages) {
    return CameAssert.ids(messages);
  }

  /** Waits until time has come. */
  <R> R await(String what, Supplier<@Nullable R> condition) {
    return tck.await(what + OTHER_CLOCK, condition);
  }

  /** A claim with a short lease of the next due messages, and another that took them over. */
  TakenOver takenOver() {
    Claim stale = claim(100, soon());
    assertSomeCame(stale);
    String end =
        "the end of a lease of %s, which is a time and not an open transaction"
            .formatted(Patience.seconds(soon()));
    return new TakenOver(stale, requires("C4", () -> awaitClaim(end)));
  }

  record TakenOver(Claim stale, Claim current) {}

  void assertComesBack(OutboxMessage sent) {
    commit(List.of(sent));
    List<StoredMessage> claimed = drain();
    expect("claimed after the append of one message", claimed).hasSize(1);
    expect("key of the message", claimed.get(0).key()).isEqualTo(sent.key());
    expect("attempts of the claimed message", claimed.get(0).attempts()).isZero();
    id(claimed.get(0)); // it can be decoded
    assertSame(claimed.get(0).message(), sent);
  }

  static void assertSame(OutboxMessage came, OutboxMessage sent) {
    assertThat(came)
        .as("the message that came")
        .usingRecursiveComparison()
        .withEqualsForType(
            Arrays::equals, byte[].class) // not byte by byte, which takes half a minute
        .isEqualTo(sent);
  }
}
