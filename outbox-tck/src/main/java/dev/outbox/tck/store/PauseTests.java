package dev.outbox.tck.store;

import static java.util.Collections.nCopies;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.PauseStore.Pause;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.assertj.core.groups.Tuple;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;

/** F3: what operators have paused. That relays publish nothing of it is not the store's. */
@DisplayName("Pauses")
@Rule("F3")
abstract class PauseTests<T> extends StoreTests<T> {
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

  @Sentence("what is paused is appended and claimed as before: relays hold it back")
  void claimsAsBefore() {
    pause("order", ANN);
    pause(null, BOB);
    List<OutboxMessage> messages = committed("k", 2);
    expect("the first id of the claim", id(first(claim()))).isEqualTo(messages.get(0).id());
  }
}
