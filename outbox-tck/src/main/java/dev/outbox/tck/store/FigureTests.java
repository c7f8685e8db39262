package dev.outbox.tck.store;

import static java.util.Collections.nCopies;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Inspected;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Page;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.InspectionStore.WaitingKey;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.PauseStore.Pause;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.OpenWork;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.assertj.core.groups.Tuple;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;

/**
 * F1 to F3: what a store says of what it holds, shows to people, and remembers as paused. What that
 * costs, {@link WorkTests} asks; that relays publish nothing of what is paused is not the store's.
 */
@DisplayName("Figures")
@Rule("F2")
abstract class FigureTests<T> extends StoreTests<T> {
  private static final Who ANN = new Who("ann", "the shop moves house, \u00fc\ud83d\ude00 'x'");
  private static final Who BOB = Who.named("bob");
  private static final Query ALL = Query.first(100);
  private static final int MOST_PAGES = 1_000;
  private static final int CAP = 100;
  private static final int MOST = Integer.MAX_VALUE;

  private Statistics statistics(int cap) {
    return tck.ability(StatisticsStore.class).statistics(cap);
  }

  @Rule("F1")
  @Sentence("statistics count what is pending, scheduled, blocked and dead")
  void statistics() {
    Statistics none = statistics(CAP);
    expect("statistics of an empty store", none)
        .isEqualTo(new Statistics(CAP, 0, 0, 0, 0, 0, 0, null, null, none.relays()));
    committed("waits", 3);
    retryFirst(claim(), LONG, true);
    committed("halted", 2);
    die(true);
    assertNothingDue("one key waits, one is halted");
    committed(message("later").deliverAfter(LONG));
    expect("oldestFree, when nothing is free", statistics(CAP).oldestFree()).isNull();
    committed("free", 2);
    Statistics came = statistics(CAP);
    assertThat(came.pending() + came.scheduled() + came.blocked())
        .as("pending, scheduled and blocked in %s", came)
        .isEqualTo(3 + 1 + 1 + 2);
    expect("pending", came.pending()).isGreaterThanOrEqualTo(2);
    expect("scheduled", came.scheduled()).isEqualTo(1);
    expect("dead", came.dead()).isEqualTo(1);
    expect("blockedKeys", came.blockedKeys()).isEqualTo(1);
    expect("haltedKeys", came.haltedKeys()).isEqualTo(1);
    assertThat(came.oldestFree()).as("oldestFree").isNotNull().isLessThan(LONG);
    assertThat(came.oldestBlocked()).as("oldestBlocked").isNotNull().isLessThan(LONG);
  }

  @Rule("F1")
  @Sentence("statistics count a key as blocked until what it waited for was delivered or is dead")
  void statisticsOfKeysThatGoOn() {
    for (Decision end : List.of(Decision.delivered(), Decision.dead("rejected"))) {
      committed("k", 1);
      retryFirst(claim(), Duration.ZERO, true);
      expect("blockedKeys, at a retry", statistics(CAP).blockedKeys()).isEqualTo(1);
      settle(awaitClaim("the retry"), end);
      expect("blockedKeys, when a retry ends as %s".formatted(end), statistics(CAP).blockedKeys())
          .isZero();
    }
    expect("oldest, when nothing waits", statistics(CAP).oldest()).isNull();
  }

  @Rule("F1")
  @Sentence("statistics are exact below the cap, are the cap from there on, and refuse one below 1")
  void statisticsEndAtTheCap() {
    int each = 7;
    committed(each, i -> "retried" + i);
    decideAll(100, m -> Decision.retry(LONG, "refused"));
    committed(each, i -> "dead" + i);
    decideAll(100, m -> Decision.dead("rejected"));
    committed(each, i -> "halted" + i);
    decideAll(100, m -> Decision.deadHaltingKey("rejected"));
    for (int i = 0; i < each; i++) {
      committed("free" + i, 1);
      committed(message("later").deliverAfter(LONG));
    }
    for (int cap : List.of(1, each - 1, each, each + 1, 2 * each, 2 * each + 1, MOST)) {
      long few = Math.min(cap, each);
      long dead = Math.min(cap, 2 * each);
      assertThat(statistics(cap))
          .as("statistics with a cap of %s, beside %s messages of each kind", cap, each)
          .usingRecursiveComparison()
          .ignoringFieldsOfTypes(Duration.class)
          .ignoringFields("relays")
          .isEqualTo(new Statistics(cap, few, few, few, dead, few, few, null, null, null));
    }
    for (int cap : List.of(0, -1, Integer.MIN_VALUE)) {
      assertRefused("statistics(%s)".formatted(cap), "" + cap, () -> statistics(cap));
    }
  }

  // ---- pauses

  private PauseStore pausing() {
    return tck.ability(PauseStore.class);
  }

  private List<Pause> pauses() {
    return pausing().pauses();
  }

  private void pause(@Nullable String type, Who by) {
    pausing().pause(type, by);
  }

  private boolean resume(@Nullable String type) {
    return pausing().resume(type, BOB);
  }

  private static Tuple of(@Nullable String type, Who by) {
    return Tuple.tuple(type, by.name(), by.reason());
  }

  private void assertPaused(Tuple... expected) {
    assertThat(pauses())
        .as("what is paused: type, who and why")
        .extracting(Pause::aggregateType, Pause::who, Pause::reason)
        .containsExactlyInAnyOrder(expected);
  }

  @Rule("F3")
  @Sentence("a pause is named once until its resume, with who and why last, and others stay")
  void untilItsResume() {
    expect("what is paused at first", pauses()).isEmpty();
    expect("resume, where nothing is paused", resume("order")).isFalse();
    pause("order", BOB);
    pause("order", ANN);
    pause(null, BOB);
    assertPaused(of("order", ANN), of(null, BOB));
    expect("resume of another type", resume("invoice")).isFalse();
    expect("resume of all", resume(null)).isTrue();
    assertPaused(of("order", ANN));
    expect("resume of the type", resume("order")).isTrue();
    expect("resume once more", resume("order")).isFalse();
    expect("what is paused in the end", pauses()).isEmpty();
  }

  @Rule("F3")
  @Sentence("a type that several pause at once is paused once, and none of them fails")
  void atOnce() {
    PauseStore store = pausing();
    for (int round = 0; round < 20; round++) {
      atOnce(
          "pause",
          nCopies(4, store),
          one -> {
            one.pause("order", ANN);
            return true;
          });
      assertPaused(of("order", ANN));
      expect("resume", resume("order")).isTrue();
    }
  }

  @Rule("F3")
  @Sentence("types that differ in case, spaces or Unicode normal form have pauses of their own")
  void typesAreExact() {
    String longest = "\u00e4".repeat(OutboxMessage.MAX_TEXT);
    List<String> types = List.of("order", "Order", "order ", "\u00e4", "a\u0308", longest);
    types.forEach(type -> pause(type, BOB));
    assertPaused(types.stream().map(type -> of(type, BOB)).toArray(Tuple[]::new));
    expect("resume of Order", resume("Order")).isTrue();
    assertThat(pauses())
        .as("types that are paused still")
        .extracting(Pause::aggregateType)
        .containsExactlyInAnyOrder("order", "order ", "\u00e4", "a\u0308", longest);
  }

  @Rule("F3")
  @Sentence("a pause is since when it was made, by the store's clock")
  void since() {
    Instant before = appended("before");
    pause("order", BOB);
    Instant after = appended("after");
    Duration precision = Duration.ofMillis(1);
    assertThat(pauses().get(0).since())
        .as("since when, between two appends")
        .isBetween(before.minus(precision), after.plus(precision));
  }

  @Rule("F3")
  @Sentence("what is paused is appended and claimed as before: relays hold it back")
  void claimsAsBefore() {
    pause("order", ANN);
    pause(null, BOB);
    List<OutboxMessage> messages = committed("k", 2);
    expect("the first id of the claim", id(first(claim()))).isEqualTo(messages.get(0).id());
  }

  // ---- inspection

  private Page<Listed> page(Query query) {
    return tck.ability(InspectionStore.class).messages(query);
  }

  private List<Listed> listed(Query query) {
    return all("messages", after -> page(query.after(after)));
  }

  private List<WaitingKey> keys(boolean halted, int limit) {
    InspectionStore store = tck.ability(InspectionStore.class);
    return all("waitingKeys", after -> store.waitingKeys(halted, after, limit));
  }

  private static <E> List<E> all(String what, Function<@Nullable String, Page<E>> pages) {
    List<E> found = new ArrayList<>();
    String after = null;
    for (int i = 0; i < MOST_PAGES; i++) {
      Page<E> page = pages.apply(after);
      found.addAll(page.found());
      after = page.next();
      if (after == null) {
        return found;
      }
    }
    throw failed("%s has given %s pages, and each names a next one", what, MOST_PAGES);
  }

  private static Query of(Status status) {
    return Query.first(status, ALL.limit());
  }

  private void assertListed(String which, Query query, Object... expected) {
    assertCame(which, listed(query)).inOrder(expected);
  }

  private static Query query(
      @Nullable Status status,
      @Nullable String aggregateType,
      @Nullable String key,
      @Nullable String eventType,
      @Nullable UUID id,
      @Nullable String error,
      @Nullable Instant appendedBefore) {
    return new Query(
        status, aggregateType, key, eventType, id, null, error, appendedBefore, null, ALL.limit());
  }

  /** One message of each status; the names are those of the keys. */
  private Map<Status, OutboxMessage> oneOfEach() {
    List<OutboxMessage> retried = committed("retried", 2);
    retryFirst(awaitClaim("what is retried"), LONG, true);
    OutboxMessage dead = committed("dead", 1).get(0);
    settleFirst(claim(), Decision.dead("unknown topic: orders"));
    OutboxMessage later = committed(message("later").deliverAfter(LONG));
    assertNothingDue("what is left waits");
    OutboxMessage free = committed("free", 1).get(0);
    return Map.of(
        Status.BLOCKED,
        retried.get(0),
        Status.DEAD,
        dead,
        Status.SCHEDULED,
        later,
        Status.PENDING,
        free);
  }

  @Sentence("what is listed is what is there, in the order of its sequences, with its status")
  void listsWhatIsThere() {
    expect("messages of an empty store", listed(ALL)).isEmpty();
    Map<Status, OutboxMessage> one = oneOfEach();
    List<Listed> listed = listed(ALL);
    assertThat(listed)
        .as("the sequences of what is listed")
        .extracting(Listed::sequence)
        .isSorted()
        .doesNotHaveDuplicates();
    expect("how many messages are listed", listed.size()).isEqualTo(5);
    one.forEach(
        (status, message) -> {
          Listed found =
              listed.stream()
                  .filter(each -> each.id().equals(message.id().toString()))
                  .findFirst()
                  .orElseThrow(() -> failed("a %s message is not listed", status));
          expect("the status of a message that is " + status, found.status()).isEqualTo(status);
          expect("key", found.key()).isEqualTo(message.key());
          expect("aggregate type", found.aggregateType()).isEqualTo(message.aggregateType());
          expect("event type", found.eventType()).isEqualTo(message.eventType());
          boolean failed = status == Status.BLOCKED || status == Status.DEAD;
          expect("attempts of a %s message".formatted(status), found.attempts())
              .isEqualTo(failed ? 1 : 0);
          expect("whether a %s message halts its key".formatted(status), found.haltsKey())
              .isFalse();
          expect("failedAt of a %s message".formatted(status), found.failedAt() != null)
              .isEqualTo(failed);
        });
    assertThat(listed)
        .filteredOn(each -> each.status() == Status.DEAD)
        .extracting(Listed::error)
        .as("the error of a dead letter")
        .containsExactly("unknown topic: orders");
    assertThat(listed)
        .filteredOn(each -> each.status() == Status.SCHEDULED)
        .as("when a delayed message is due")
        .allSatisfy(each -> assertThat(each.dueAt()).isAfter(each.appendedAt()));
  }

  @Sentence("each filter leaves out what it does not ask for, and nothing else")
  void filters() {
    Map<Status, OutboxMessage> one = oneOfEach();
    for (Status status : Status.values()) {
      assertThat(listed(of(status)))
          .as("messages that are %s", status)
          .isNotEmpty()
          .allMatch(message -> message.status() == status)
          .extracting(Listed::id)
          .contains(requireNonNull(one.get(status)).id().toString());
    }
    OutboxMessage other =
        committed(message("free").aggregate("invoice", "7").eventType("InvoiceSent").dedupKey("d"));
    committed(message("another").dedupKey("d "));
    OutboxMessage free = requireNonNull(one.get(Status.PENDING));
    assertListed("of a type", query(null, "invoice", null, null, null, null, null), other);
    assertListed("of a key", query(null, null, key("free"), null, null, null, null), free);
    assertListed("of no key", query(null, null, key("fre"), null, null, null, null));
    assertListed("of events", query(null, null, null, "InvoiceSent", null, null, null), other);
    assertListed("of an id", query(null, null, null, null, free.id(), null, null), free);
    Query dedupKey = new Query(null, null, null, null, null, "d", null, null, null, ALL.limit());
    assertListed("of a dedup key", dedupKey, other);
    OutboxMessage dead = requireNonNull(one.get(Status.DEAD));
    for (String part : List.of("unknown topic", "topic: o", "orders")) {
      Query query = query(null, null, null, null, null, part, null);
      assertListed("with %s in the error".formatted(shown(part)), query, dead);
    }
    for (String none : List.of("Unknown", "unknown%topic", "unknown_topic", ".*")) {
      Query query = query(null, null, null, null, null, none, null);
      assertListed("with %s in the error".formatted(shown(none)), query);
    }
    expect(
            "of a key, a status and a type",
            listed(query(Status.BLOCKED, "order", key("retried"), null, null, null, null)))
        .hasSize(2);
    Instant first = listed(ALL).get(0).appendedAt();
    Query earlier = query(null, null, null, null, null, null, first.minusSeconds(1));
    assertListed("appended before the first", earlier);
    Query later = query(null, null, null, null, null, null, first.plus(LONG));
    expect("appended before six hours after the first", listed(later).size()).isEqualTo(7);
  }

  @Sentence("read page by page, each message that waits throughout comes once, whatever others do")
  void pagesOfWhatWaits() {
    tck.ability(InspectionStore.class);
    for (int limit : List.of(1, 2, 7)) {
      tck.prepare();
      committed("early", 3);
      List<OutboxMessage> messages = committed(10, i -> "k" + i % 3);
      List<Listed> found = new ArrayList<>();
      String after = null;
      do {
        Page<Listed> page = page(Query.first(limit).after(after));
        assertThat(page.found()).as("a page of at most %s", limit).hasSizeLessThanOrEqualTo(limit);
        found.addAll(page.found());
        after = page.next();
        if (after != null && found.size() < 5) {
          committed("later", 1);
          decideAboutOne();
        }
      } while (after != null);
      String pages = "what came in pages of " + limit;
      assertCame(pages, found).contains(messages);
      assertThat(found).extracting(Listed::sequence).as(pages).doesNotHaveDuplicates();
    }
  }

  /** What was first leaves, and what comes then is tried again. */
  private void decideAboutOne() {
    Claim claim = awaitClaim("what changes while others look");
    boolean leaves = first(claim).key().equals(key("early"));
    settleFirst(claim, leaves ? Decision.delivered() : Decision.retry(LONG, "refused"));
  }

  @Sentence("a page of messages or of keys that nobody could have named is refused")
  void refusesPages() {
    InspectionStore store = tck.ability(InspectionStore.class);
    assertRefused("messages after \"x\"", "x", () -> store.messages(Query.first(1).after("x")));
    assertRefused("keys after \"x\"", "x", () -> store.waitingKeys(false, "x", 1));
    for (int limit : List.of(0, -1)) {
      assertRefused(
          "waitingKeys with a limit of " + limit,
          "" + limit,
          () -> store.waitingKeys(true, null, limit));
    }
  }

  @Sentence("a message is shown whole, with what it waits for; one that is gone is not")
  void shows() {
    InspectionStore store = tck.ability(InspectionStore.class);
    List<OutboxMessage> messages = committed("k", 2);
    Claim claim = awaitClaim("the head");
    long head = first(claim).sequence();
    retryFirst(claim, LONG, true);
    assertNothingDue("the head waits for its retry");
    List<Listed> listed = listed(ALL);
    expect("how many messages are listed", listed.size()).isEqualTo(2);
    for (int i = 0; i < 2; i++) {
      Listed one = listed.get(i);
      Inspected shown =
          store
              .message(one.sequence())
              .orElseThrow(() -> failed("message %s is listed and not shown", one));
      expect("the message", shown.message().message()).isEqualTo(messages.get(i));
      expect("what the list says of it", shown.listed()).isEqualTo(one);
      expect("what it waits for", shown.behind()).isEqualTo(i == 0 ? null : (Object) head);
    }
    expect(
            "whether a message is shown that is not there",
            store.message(listed.get(1).sequence() + 1_000).isPresent())
        .isFalse();
    insertUndecodable("damaged");
    Listed damaged =
        listed(ALL).stream()
            .filter(message -> message.key().equals(key("damaged")))
            .findFirst()
            .orElseThrow(() -> failed("a row that cannot be decoded is not listed with its key"));
    assertThat(store.message(damaged.sequence()).orElseThrow().message())
        .as("a row that cannot be decoded")
        .satisfies(message -> assertThat(message.problem()).isNotNull());
  }

  @Sentence("keys that wait are listed once each, with what they wait for and how many wait behind")
  void waitingKeys() {
    expect("waiting keys of an empty store", keys(false, 10)).isEmpty();
    committed("retried", 3);
    Claim claim = awaitClaim("what is retried");
    long head = first(claim).sequence();
    retryFirst(claim, LONG, true);
    committed("halted", 2);
    long letter = die(true);
    committed("dead", 1);
    die(false);
    committed("free", 1);
    release(claim());
    drain();
    assertThat(listed(of(Status.DEAD)))
        .filteredOn(Listed::haltsKey)
        .as("the dead letters that halt their keys")
        .extracting(Listed::sequence)
        .containsExactly(letter);
    for (int limit : List.of(1, 2, 10)) {
      List<WaitingKey> keys = keys(false, limit);
      assertThat(keys)
          .as("waiting keys in pages of %s", limit)
          .extracting(WaitingKey::key)
          .containsExactlyInAnyOrder(key("retried"), key("halted"));
      for (WaitingKey key : keys) {
        boolean halted = key.key().equals(key("halted"));
        expect("whether %s is halted".formatted(key.key()), key.halted()).isEqualTo(halted);
        expect("what %s waits for".formatted(key.key()), key.behind())
            .isEqualTo(halted ? letter : head);
        expect("the error of that", key.error()).isEqualTo(halted ? "rejected" : "refused");
        expect("its attempts", key.attempts()).isEqualTo(1);
        expect("whether %s has a time".formatted(key.key()), key.retryAt() != null)
            .isEqualTo(!halted);
        expect("how many wait behind %s".formatted(key.key()), key.waiting())
            .isEqualTo(halted ? 1 : 2);
      }
      assertThat(keys(true, limit))
          .as("halted keys in pages of %s", limit)
          .extracting(WaitingKey::key)
          .containsExactly(key("halted"));
    }
    expect("whether the dead letter was discarded", discard(letter)).isTrue();
    expect("halted keys when somebody has decided", keys(true, 10)).isEmpty();
  }

  @Sentence("looking changes nothing, and waits for no claim and no open transaction")
  void changesNothing() {
    List<OutboxMessage> messages = committed("k", 2);
    try (OpenWork<T> open = tck.open()) {
      append(open, message("open").build());
      Claim claim = awaitClaim("what is looked at while it is claimed");
      Query ofTheKey = query(null, null, key("k"), null, null, null, null);
      assertListed("what is listed of it", ofTheKey, messages);
      expect("waiting keys", keys(false, 10)).isEmpty();
      release(claim);
    }
    Claim claim = awaitClaim("what somebody has looked at");
    expect("attempts after somebody has looked", first(claim).attempts()).isZero();
    release(claim);
    assertCame("what came after somebody had looked", awaitDrained(2)).inOrder(messages);
    expect("what is listed of what was delivered", listed(ALL)).isEmpty();
  }
}
