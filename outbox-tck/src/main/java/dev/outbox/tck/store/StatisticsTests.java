package dev.outbox.tck.store;

import static java.util.Collections.nCopies;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.PauseStore.Pause;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.assertj.core.groups.Tuple;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;

/**
 * F1 and F3: what a store says of what it holds, and of what is paused. What that costs, {@link
 * WorkTests} asks; that relays publish nothing of what is paused is not the store's.
 */
@DisplayName("Statistics and pauses")
@Rule("F1")
abstract class StatisticsTests<T> extends StoreTests<T> {
  private static final int CAP = 100;
  private static final int MOST = Integer.MAX_VALUE;

  private Statistics statistics(int cap) {
    return tck.ability(StatisticsStore.class).statistics(cap);
  }

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

  private static final Who ANN = new Who("ann", "the shop moves house, \u00fc\ud83d\ude00 'x'");
  private static final Who BOB = Who.named("bob");

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
      List<Boolean> ignored =
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
}
