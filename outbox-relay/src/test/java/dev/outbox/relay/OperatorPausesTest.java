package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.PermanentOutboxException;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What operators have paused is not published (F3). */
class OperatorPausesTest {
  private static final Who ANN = new Who("ann", "the warehouse moves");
  private static final String PAUSED = "order";
  private static final String FLOWING = "invoice";
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final AtomicInteger reads = new AtomicInteger();
  private volatile @Nullable RuntimeException failure;
  private final FaultyStore store =
      new FaultyStore() {
        @Override
        public synchronized List<Pause> pauses() {
          int ignored = reads.incrementAndGet();
          RuntimeException thrown = failure;
          if (thrown != null) {
            throw thrown;
          }
          return super.pauses();
        }
      };
  private final FakePublisher publisher = new FakePublisher();
  private final Recorder events = new Recorder();
  private final AtomicLong clock = new AtomicLong();
  private final OperatorPauses paused = new OperatorPauses("relay", store, events, clock::get);

  private void append(String type, String key, String event) {
    OutboxMessage message =
        OutboxMessage.builder().aggregate(type, key).eventType(event).payload("{}").build();
    store.inTransaction(t -> store.append(t, List.of(message)));
  }

  private Duration delay(int sequence) {
    return ((Decision.Retry) paused.before(Samples.stored(sequence, "a"))).delay();
  }

  @Test
  void asksOnceASecondWhenSomethingIsToBePublishedAndTellsWhatHasChanged()
      throws InterruptedException {
    assertThat(paused.areOfAll()).isFalse();
    assertThat(paused.areOfAll()).isFalse();
    assertThat(reads).as("once, while there is nothing to publish").hasValue(1);
    assertThat(paused.readAgain()).isFalse();
    store.pause(PAUSED, ANN);
    assertThat(paused.readAgain()).isFalse();
    assertThat(paused.before(Samples.stored(1, "a"))).isNull();
    assertThat(reads).hasValue(1);
    clock.addAndGet(SECOND);
    store.pause(null, ANN);
    assertThat(paused.readAgain()).isTrue();
    assertThat(paused.before(Samples.stored(1, "a")))
        .isInstanceOfSatisfying(
            Decision.Retry.class,
            retry -> {
              assertThat(retry.counts()).isFalse();
              assertThat(retry.error())
                  .startsWith("not tried: messages of aggregate type order are paused since ")
                  .endsWith(" by ann (the warehouse moves)");
            });
    assertThat(paused.areOfAll()).isTrue();
    assertThat(reads).hasValue(2);
    clock.addAndGet(SECOND);
    store.resume(PAUSED, ANN);
    store.resume(null, ANN);
    assertThat(paused.areOfAll()).isFalse();
    assertThat(events.all())
        .containsExactlyInAnyOrder("paused order", "paused null", "resumed order", "resumed null");
  }

  @Test
  void whatCannotBeReadStaysAsItWas() throws InterruptedException {
    store.pause(PAUSED, ANN);
    assertThat(paused.readAgain()).isFalse();
    failure = new TransientOutboxException("away", null);
    clock.addAndGet(SECOND);
    assertThat(paused.readAgain()).isFalse();
    assertThat(paused.readAgain()).isFalse();
    assertThat(paused.before(Samples.stored(1, "a"))).isNotNull();
    assertThat(events.all()).containsExactly("paused order", "storeFailed pauses away");
  }

  @Test
  void whatHappensIsToldInItsOrderAlsoWhereTheListenerIsSlow() throws InterruptedException {
    SlowListener slow = new SlowListener(RelayEvent.Paused.class, events);
    OperatorPauses pauses = new OperatorPauses("relay", store, slow, clock::get);
    assertThat(pauses.readAgain()).isFalse();
    store.pause(PAUSED, ANN);
    clock.addAndGet(SECOND);
    CompletableFuture<Boolean> another = CompletableFuture.supplyAsync(() -> readAgain(pauses));
    slow.awaitTold();
    store.resume(PAUSED, ANN);
    clock.addAndGet(SECOND);
    assertThat(pauses.readAgain()).isFalse();
    slow.goOn();
    assertThat(another.join()).isFalse();
    clock.addAndGet(SECOND);
    assertThat(pauses.readAgain()).isFalse();
    assertThat(events.all()).containsExactly("paused order", "resumed order");
  }

  private static boolean readAgain(OperatorPauses pauses) {
    try {
      return pauses.readAgain();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void nothingIsPublishedBeforeItWasReadOnceOrWhereItMayNotBeRead() throws InterruptedException {
    failure = new TransientOutboxException("away", null);
    assertThat(paused.areOfAll()).isTrue();
    assertThat(paused.readAgain()).isTrue();
    failure = null;
    clock.addAndGet(SECOND);
    assertThat(paused.areOfAll()).isFalse();
    failure = new PermanentOutboxException("no right to select", null);
    clock.addAndGet(SECOND);
    assertThat(paused.readAgain()).isTrue();
    assertThat(paused.areOfAll()).isTrue();
    failure = null;
    clock.addAndGet(SECOND);
    assertThat(paused.areOfAll()).isFalse();
    assertThat(events.all())
        .containsExactly(
            "storeFailed pauses away",
            "recovered",
            "storeFailed pauses no right to select",
            "recovered");
  }

  @Test
  void looksAgainAfterASecondOrLaterWhereThereIsMuch() throws InterruptedException {
    store.pause(PAUSED, ANN);
    boolean ignored = paused.readAgain();
    assertThat(delay(1)).isEqualTo(Duration.ofSeconds(1));
    assertThat(delay(2)).isEqualTo(Duration.ofMillis(1_005));
    for (int i = 3; i <= 10_000; i++) {
      assertThat(delay(i)).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(30));
    }
    assertThat(delay(10_001)).isEqualTo(Duration.ofSeconds(30));
    clock.addAndGet(60 * SECOND);
    assertThat(delay(10_002)).isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void whileAllIsPausedNobodyClaimsAndNothingIsChanged() throws InterruptedException {
    append(PAUSED, "a", "1");
    append(FLOWING, "b", "2");
    store.pause(null, ANN);
    try (Relay relay = builder("relay").build()) {
      relay.start();
      Waits.await().until(() -> events.all().contains("paused null"));
      int claims = store.claims.get();
      int reads = this.reads.get();
      Waits.await().until(() -> this.reads.get() > reads + 1);
      assertThat(store.claims.get() - claims).as("claims in a second").isLessThan(3);
      assertThat(publisher.calls).isEmpty();
      assertThat(store.statistics(10).pending()).as("none was moved").isEqualTo(2);
      store.resume(null, ANN);
      Waits.await().until(() -> publisher.delivered.size() == 2);
      assertThat(events.of("resumed")).containsExactly("resumed null");
    }
    assertThat(publisher.delivered).allSatisfy(m -> assertThat(m.attempts()).isZero());
  }

  @Test
  void twoRelaysLetOtherTypesFlowAndKeepTheOrderOfThePausedOne() throws InterruptedException {
    store.keeps = true;
    publisher.whole =
        () -> {
          TimeUnit.MILLISECONDS.sleep(5);
          return Result.delivered();
        };
    for (int i = 0; i < 3_000; i++) {
      append(PAUSED, "key" + i % 30, "event" + i);
    }
    try (Relay one = builder("one").build();
        Relay two = builder("two").build()) {
      one.start();
      two.start();
      Waits.await().until(() -> !publisher.delivered.isEmpty());
      store.pause(PAUSED, ANN);
      Waits.await().until(() -> store.statistics(100).blockedKeys() == 30);
      int before = events(PAUSED).size();
      for (int i = 0; i < 100; i++) {
        append(FLOWING, "key" + i % 10, "flows" + i);
        append(PAUSED, "key" + i % 30, "later" + i);
      }
      Waits.await().until(() -> events(FLOWING).size() == 100);
      assertThat(events(PAUSED)).as("while it is paused").hasSize(before);
      publisher.whole = Result::delivered;
      assertThat(store.deadLetters(0, 1)).isEmpty();
      assertThat(store.resume(PAUSED, ANN)).isTrue();
      Waits.await().until(() -> store.statistics(10).oldest() == null);
      assertThat(events(PAUSED)).doesNotHaveDuplicates().hasSize(3_100);
      byKey(publisher.delivered).values().forEach(sequences -> assertThat(sequences).isSorted());
    }
    assertThat(publisher.delivered).allSatisfy(m -> assertThat(m.attempts()).isZero());
  }

  private List<String> events(String type) {
    return publisher.delivered.stream()
        .filter(m -> m.aggregateType().equals(type))
        .map(m -> m.message().eventType())
        .toList();
  }

  private static Map<String, List<Long>> byKey(List<StoredMessage> messages) {
    return messages.stream()
        .collect(
            Collectors.groupingBy(
                StoredMessage::key,
                Collectors.mapping(StoredMessage::sequence, Collectors.toList())));
  }

  @Test
  void healthSaysPausedAndNotDown() throws InterruptedException {
    RelayState state = new RelayState();
    store.pause(PAUSED, ANN);
    new OperatorPauses("relay", store, state, clock::get).readAgain();
    assertThat(state.findings(true))
        .filteredOn(finding -> finding.what().equals(Diagnosis.PAUSED))
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.severity()).isEqualTo(Finding.Severity.WARNING);
              assertThat(finding.sentence()).contains("by ann (the warehouse moves)");
              assertThat(finding.remedy()).isEqualTo("outbox resume --type order");
            });
  }

  private Relay.Builder builder(String name) {
    return Relay.builder(store, publisher).name(name).batchSize(50).listener(events);
  }

  @Test
  void diagnosisSaysThatAPauseIsWhyNothingMoves() throws InterruptedException {
    IntStream.range(0, 3).forEach(i -> append(PAUSED, "a", "event" + i));
    store.pause(null, ANN);
    Diagnosis diagnosis =
        Diagnosis.of(store, 10, Instant.now().plus(Duration.ofHours(1)), List.of());
    assertThat(diagnosis.delivery().severity()).isEqualTo(Finding.Severity.WARNING);
    assertThat(diagnosis.delivery().sentence()).startsWith("all messages are paused since ");
    assertThat(diagnosis.delivery().remedy()).isEqualTo("outbox resume");
  }
}
