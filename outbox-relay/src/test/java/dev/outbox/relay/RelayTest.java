package dev.outbox.relay;

import static dev.outbox.relay.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.outbox.OutboxMessage;
import dev.outbox.SchemaException;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.spi.store.KeepingStore.Uncommitted.Committed;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.memory.MemoryTransaction;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A relay as applications use it: with its threads and its clock. */
class RelayTest {
  private static final Claim.Request ALL =
      new Claim.Request("other", 1_000, Long.MAX_VALUE, Duration.ofMinutes(1));

  private static final Duration STOP = Duration.ofMinutes(2);

  private final FaultyStore store = new FaultyStore();
  private final FakePublisher publisher = new FakePublisher();
  private final Recorder events = new Recorder();
  private final CountDownLatch never = new CountDownLatch(1);

  /** So much further than the system's the relay's clock is, in nanoseconds. */
  private final AtomicLong ahead = new AtomicLong();

  private Relay relay = builder().build();

  @AfterEach
  void close() {
    never.countDown();
    relay.close();
  }

  private Relay.Builder builder() {
    return Relay.builder(store, publisher).name("relay").listener(events);
  }

  private long clock() {
    return System.nanoTime() + ahead.get();
  }

  /** Closes it, and lets the time pass in which a publisher may still end. */
  private void closeAndLetTimePass() throws InterruptedException {
    Thread closing = new Thread(relay::close);
    closing.start();
    await().until(() -> closing.getState() == Thread.State.TIMED_WAITING);
    ahead.set(STOP.multipliedBy(3).dividedBy(4).toNanos());
    closing.join();
  }

  /** Says that it is inside, and heeds no interrupt. */
  private void stayInside(CountDownLatch inside) {
    inside.countDown();
    while (never.getCount() > 0) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  private void awaitDelivered(int count) {
    await().untilAsserted(() -> assertThat(events.of("delivered")).hasSize(count));
  }

  /** What would be claimed by another relay now. */
  private int claimable() {
    var claim = store.claim(ALL);
    claim.settle(Map.of());
    return claim.messages().size();
  }

  @Test
  void publishesWhatIsAppendedBeforeAndAfterItsStart() {
    store.append("a", "1", "2");
    relay.start();
    relay.start();
    store.append("a", "3");
    awaitDelivered(3);
    assertThat(publisher.deliveredEvents()).containsExactly("1", "2", "3");
    relay.close();
    relay.close();
    assertThat(events.of("started")).containsExactly("started relay 2");
    assertThat(events.of("stopped")).containsExactly("stopped 0");
  }

  @Test
  void itIsAliveFromItsStartToItsClose() {
    assertThat(relay.isAlive()).isFalse();
    relay.start();
    assertThat(relay.isAlive()).isTrue();
    relay.close();
    assertThat(relay.isAlive()).isFalse();
  }

  /** Neither a look nor what is expected: a message that nobody told of is news, as ever. */
  @Test
  void whatOthersPublishChangesNothing() throws InterruptedException {
    FaultyStore others =
        new FaultyStore() {
          @Override
          public Uncommitted append(
              Keeper keeper, MemoryTransaction transaction, List<OutboxMessage> messages) {
            return Uncommitted.of(append(transaction, messages), () -> Committed.ELSEWHERE);
          }
        };
    relay =
        Relay.builder(others, publisher)
            .listener(events)
            .workers(1)
            .idlePause(Duration.ofHours(1))
            .clock(this::clock)
            .build();
    ahead.set(Duration.ofDays(100).toNanos()); // nothing happened for long
    relay.start();
    await().until(() -> others.claims.get() >= 10);
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch committed = new CountDownLatch(1);
    others.beforeClaim =
        () -> {
          inside.countDown();
          await().until(() -> committed.getCount() == 0);
        };
    inside.await();
    MemoryTransaction theirs = others.begin();
    Uncommitted uncommitted = relay.append(others, theirs, List.of(Samples.message("a", "theirs")));
    theirs.rollback(); // nobody else is here to publish it
    assertThat(uncommitted.committed()).isEqualTo(Committed.ELSEWHERE);
    others.append("a", "found");
    int before = others.claims.get();
    committed.countDown();
    awaitDelivered(1);
    // Pauses would go on with half a second and double, had this been announced.
    await().until(() -> others.claims.get() >= before + 20);
  }

  @Test
  void itIsWokenAfterACommit() {
    relay = builder().idlePause(Duration.ofHours(1)).clock(this::clock).build();
    relay.wake(); // before the start: nothing happens
    ahead.set(Duration.ofDays(100).toNanos()); // nothing happened for long
    relay.start();
    await().until(() -> store.claims.get() >= 10);
    store.append("a", "event");
    relay.wake();
    awaitDelivered(1);
  }

  @Test
  void keepsKeysUntilItIsClosed() {
    store.keeps = true;
    relay = builder().unclaimed(Duration.ofDays(1)).build();
    relay.start();
    for (int i = 1; i <= 10; i++) {
      store.append("a", "event " + i);
      awaitDelivered(i);
    }
    relay.close();
    assertThat(store.claims).as("claims of the store itself").hasValue(0);
    store.append("a", "left");
    assertThat(claimable()).isEqualTo(1);
  }

  @Test
  void givesBackWhatItKeepsWhileItsWorkersHang() {
    CountDownLatch inside = new CountDownLatch(1);
    publisher.on("hangs", FakePublisher.waiting(inside, never));
    store.keeps = true;
    relay = builder().workers(1).unclaimed(Duration.ofMillis(200)).build();
    relay.start();
    for (int i = 1; i <= 10; i++) {
      store.append("a", "event " + i);
      awaitDelivered(i);
    }
    store.append("b", "hangs");
    await().until(() -> inside.getCount() == 0);
    store.append("a", "left");
    await().untilAsserted(() -> assertThat(claimable()).as("given back").isEqualTo(1));
  }

  @Test
  void runOnceKeepsNothing() throws InterruptedException {
    store.keeps = true;
    relay = builder().unclaimed(Duration.ofDays(1)).build();
    store.append("a", "event");
    relay.runOnce();
    store.append("a", "left");
    assertThat(claimable()).isEqualTo(1);
  }

  @Test
  void cannotBeStartedAfterClose() throws InterruptedException {
    relay.close();
    assertThatIllegalStateException().isThrownBy(relay::start).withMessageContaining("build a new");
    assertThatIllegalStateException().isThrownBy(relay::runOnce);
  }

  @Test
  void runOncePublishesWhatIsDueInTheCallersThread() throws InterruptedException {
    for (int i = 0; i < 1_200; i++) {
      store.append("key" + i % 7, "event" + i);
    }
    publisher.on("event5", () -> Result.failed("x"));
    Duration hour = Duration.ofHours(1); // not due again while this runs
    relay =
        builder()
            .retryPolicy(RetryPolicy.builder().firstDelay(hour).maxDelay(hour).build())
            .build();
    relay.runOnce();
    assertThat(events.of("retried")).hasSize(1);
    assertThat(publisher.delivered)
        .as("all but those behind the failed one")
        .hasSize(
            (int)
                (1_200
                    - java.util.stream.IntStream.range(0, 1_200).filter(i -> i % 7 == 5).count()));
    assertThat(events.of("started")).isEmpty();
  }

  @Test
  void closeCutsRunOnceShortAndCountsNothing() throws InterruptedException {
    CountDownLatch inside = new CountDownLatch(1);
    publisher.whole = FakePublisher.waiting(inside, never);
    store.append("a", "1");
    Thread once =
        new Thread(
            () -> {
              try {
                relay.runOnce();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    once.start();
    inside.await();
    relay.close();
    once.join();
    assertThat(events.of("retried")).isEmpty();
    assertThat(claimable()).isEqualTo(1);
  }

  @Test
  void closeLetsARunningPublishEnd() throws InterruptedException {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    publisher.whole = FakePublisher.waiting(inside, goOn);
    store.append("a", "1");
    relay.start();
    inside.await();
    Thread closing = new Thread(relay::close);
    closing.start();
    await().until(() -> closing.getState() == Thread.State.TIMED_WAITING);
    goOn.countDown();
    closing.join();
    assertThat(events.of("delivered")).hasSize(1);
    assertThat(events.all()).endsWith("stopped 0");
  }

  @Test
  void closeInterruptsAPublishThatTakesTooLongAndReleases() throws InterruptedException {
    relay = builder().stopTimeout(STOP).clock(this::clock).build();
    CountDownLatch inside = new CountDownLatch(1);
    publisher.on("hang", FakePublisher.waiting(inside, never));
    store.append("a", "hang");
    store.append("b", "2");
    relay.start();
    inside.await();
    closeAndLetTimePass();
    assertThat(events.all()).endsWith("stopped 0");
    assertThat(events.of("abandoned")).isEmpty();
    assertThat(claimable()).as("released, long before the lease ends").isEqualTo(2);
  }

  @Test
  void closeReportsAPublishThatNeverReturnsAndReleases() throws InterruptedException {
    relay = builder().stopTimeout(Duration.ofSeconds(5)).build();
    CountDownLatch inside = new CountDownLatch(1);
    publisher.whole =
        () -> {
          stayInside(inside);
          return Result.delivered();
        };
    store.append("a", "1");
    relay.start();
    inside.await();
    relay.close();
    assertThat(events.all()).endsWith("stopped 1");
    await().untilAsserted(() -> assertThat(claimable()).isEqualTo(1));
  }

  @Test
  void closeKeepsResultsThatCameBecauseOfTheInterrupt() throws InterruptedException {
    relay = builder().stopTimeout(STOP).clock(this::clock).build();
    CountDownLatch inside = new CountDownLatch(1);
    publisher.on(
        "slow",
        () -> {
          inside.countDown();
          try {
            never.await();
            return Result.delivered();
          } catch (InterruptedException e) {
            return Result.failed("interrupted");
          }
        });
    store.append("a", "quick", "slow");
    relay.start();
    inside.await();
    closeAndLetTimePass();
    assertThat(events.of("delivered")).hasSize(1);
    assertThat(events.of("retried")).hasSize(1);
  }

  @Test
  void closeGivesUpAStoreThatDoesNotAnswer() throws InterruptedException {
    relay = builder().workers(1).stopTimeout(Duration.ofMillis(300)).build();
    CountDownLatch inside = new CountDownLatch(1);
    store.beforeClaim = () -> stayInside(inside);
    relay.start();
    inside.await();
    relay.close();
    assertThat(events.all()).contains("stopped 1");
  }

  @Test
  void anInterruptOfTheClosingThreadIsKept() {
    relay.start();
    Thread.currentThread().interrupt();
    relay.close();
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void anInterruptOfTheClosingThreadEndsTheOneThatHolds() {
    CountDownLatch holds = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    FaultyStore store =
        keptBy(
            source ->
                new KeepsNothing(source) {
                  @Override
                  public void hold(Runnable announced) throws InterruptedException {
                    holds.countDown();
                    try {
                      never.await();
                    } finally {
                      ended.countDown();
                    }
                  }
                });
    relay = Relay.builder(store, publisher).build();
    relay.start();
    await().until(() -> holds.getCount() == 0);
    Thread.currentThread().interrupt();
    relay.close();
    assertThat(Thread.interrupted()).isTrue();
    await().until(() -> ended.getCount() == 0);
  }

  @Test
  void aKeeperThatCannotLeaveStopsNoClose() {
    FaultyStore store =
        keptBy(
            source ->
                new KeepsNothing(source) {
                  @Override
                  public void leave(Duration most) {
                    throw new IllegalStateException("no answer");
                  }
                });
    relay = Relay.builder(store, publisher).listener(events).build();
    relay.start();
    relay.close();
    assertThat(events.of("storeFailed let go no answer")).hasSize(1);
    assertThat(events.of("stopped")).as("with all its threads").containsExactly("stopped 0");
  }

  @Test
  void closeDoesNotWaitForAStartThatHangs() throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    Able store =
        new Able() {
          @Override
          public void verify() {
            stayInside(inside);
          }
        };
    relay = Relay.builder(store, publisher).listener(events).build();
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread starting = new Thread(relay::start);
    starting.setUncaughtExceptionHandler((thread, e) -> thrown.set(e));
    starting.start();
    await().until(() -> inside.getCount() == 0);
    assertThat(relay.isAlive()).isFalse();
    relay.close();
    never.countDown();
    starting.join();
    assertThat(thrown.get())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    assertThat(events.of("started")).isEmpty();
  }

  @Test
  void closeFromAListenerDoesNotWaitForItself() {
    AtomicInteger closed = new AtomicInteger();
    RelayListener closing =
        event -> {
          if (event instanceof RelayEvent.Delivered) {
            relay.close();
            closed.incrementAndGet();
          }
        };
    relay =
        builder()
            .workers(1)
            .batchSize(1)
            .listener(closing)
            .lease(Duration.ofHours(1))
            .stopTimeout(Duration.ofHours(1))
            .build();
    store.append("a", "1");
    store.append("b", "2");
    relay.start();
    await().until(() -> closed.get() == 1);
    await().untilAsserted(() -> assertThat(claimable()).as("given back").isEqualTo(1));
  }

  @Test
  void closedByAListenerThatIsToldOfItsStartNothingRuns() {
    relay =
        builder()
            .listener(
                event -> {
                  if (event instanceof RelayEvent.Started) {
                    relay.close();
                  }
                })
            .build();
    relay.start();
    assertThat(events.of("stopped")).containsExactly("stopped 0");
    assertThat(relay.isAlive()).isFalse();
  }

  /** Also in a thread that a stop interrupts. */
  @Test
  void closeFromAListenerOfHousekeepingLetsARunningPublishEnd() {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    publisher.whole =
        () -> {
          inside.countDown();
          goOn.await();
          return Result.delivered();
        };
    FaultyStore store =
        new FaultyStore() {
          @Override
          public void housekeep() {
            await().until(() -> inside.getCount() == 0);
            throw new IllegalStateException("refused");
          }
        };
    AtomicReference<Thread> closing = new AtomicReference<>();
    RelayListener closes =
        event -> {
          if (event instanceof RelayEvent.StoreFailed) {
            closing.set(Thread.currentThread());
            relay.close();
          }
        };
    relay = Relay.builder(store, publisher).listener(events).listener(closes).build();
    store.append("a", "1");
    relay.start();
    await()
        .until(
            () ->
                closing.get() != null && closing.get().getState() == Thread.State.TIMED_WAITING
                    || !events.of("stopped").isEmpty());
    goOn.countDown();
    await().until(() -> !events.of("stopped").isEmpty());
    assertThat(events.of("stopped")).containsExactly("stopped 0");
    assertThat(events.of("delivered")).hasSize(1);
  }

  @Test
  void aBrokerThatComesBackGetsEverythingInOrder() {
    CountDownLatch back = new CountDownLatch(1);
    publisher.whole =
        () -> back.getCount() > 0 ? Result.unavailable("no broker") : Result.delivered();
    relay = builder().batchSize(3).build();
    relay.start();
    for (int i = 0; i < 30; i++) {
      store.append("key" + i % 3, "event" + i);
    }
    await().until(() -> events.of("unavailable").size() > 5);
    back.countDown();
    awaitDelivered(30);
    assertThat(events.of("opened")).hasSize(1);
    assertThat(events.of("closed")).hasSize(1);
    assertThat(events.of("retried")).as("none is counted").noneMatch(e -> e.contains(" true "));
    assertThat(events.of("dead")).isEmpty();
    for (int key = 0; key < 3; key++) {
      String name = "key" + key;
      assertThat(publisher.delivered.stream().filter(m -> m.key().equals(name)))
          .extracting(StoredMessage::sequence)
          .isSorted()
          .hasSize(10);
    }
  }

  private static class Able extends FaultyStore implements FakeSchema {
    boolean outdated;

    @Override
    public void verify() {
      if (outdated) {
        throw new SchemaException("run migrate");
      }
    }

    @Override
    public String place() {
      return "a map";
    }

    @Override
    public OptionalInt maxConnections() {
      return OptionalInt.of(3);
    }
  }

  @Test
  void aMissingSchemaIsSaidAtStart() {
    Able store = new Able();
    store.outdated = true;
    relay = Relay.builder(store, publisher).listener(events).build();
    assertThatExceptionOfType(SchemaException.class).isThrownBy(relay::start);
    assertThat(events.all()).isEmpty();
    store.outdated = false;
    relay.start();
    assertThat(events.of("started")).singleElement().asString().endsWith(" on a map");
  }

  private static FaultyStore keptBy(Function<Claim.Source, Keeper> keeper) {
    return new FaultyStore() {
      @Override
      public Keeper keeper(Duration unclaimed) {
        return keeper.apply(this);
      }
    };
  }

  private static class KeepsNothing implements Keeper {
    private final Claim.Source source;

    KeepsNothing(Claim.Source source) {
      this.source = source;
    }

    @Override
    public Claim claim(Claim.Request request) {
      return source.claim(request);
    }

    @Override
    public void giveBackUnused() {}

    @Override
    public void close() {}
  }

  /** Where another relay holds all there is. */
  private static final class HeldByOthers extends FaultyStore {
    final AtomicInteger rounds = new AtomicInteger();
    final List<Integer> housekeptIn = new CopyOnWriteArrayList<>();
    volatile boolean standsBy = true;

    @Override
    public void housekeep() {
      housekeptIn.add(rounds.get());
    }

    @Override
    public Keeper keeper(Duration unclaimed) {
      return new KeepsNothing(this) {
        @Override
        public boolean standsBy() {
          rounds.incrementAndGet();
          return standsBy;
        }
      };
    }
  }

  @Test
  void whoStandsByLeavesMostOfTheHousekeepingToOthers() {
    HeldByOthers store = new HeldByOthers();
    relay = Relay.builder(store, publisher).housekeeping(Duration.ofMillis(1)).build();
    relay.start();
    await().until(() -> store.housekeptIn.size() >= 3);
    assertThat(store.housekeptIn).startsWith(10, 20, 30);
    store.standsBy = false;
    int before = store.housekeptIn.size();
    await().until(() -> store.housekeptIn.size() >= before + 3);
    assertThat(store.housekeptIn.get(before + 2))
        .as("the next round")
        .isEqualTo(store.housekeptIn.get(before + 1) + 1);
  }

  @Test
  void closeWaitsForHousekeepingToo() throws InterruptedException {
    CountDownLatch inside = new CountDownLatch(1);
    FaultyStore store =
        new FaultyStore() {
          @Override
          public void housekeep() {
            stayInside(inside);
          }
        };
    relay =
        Relay.builder(store, publisher)
            .listener(events)
            .stopTimeout(Duration.ofMillis(100))
            .build();
    relay.start();
    inside.await();
    relay.close();
    assertThat(events.all()).endsWith("stopped 1");
  }

  @Test
  void aPoolThatIsTooSmallIsRefused() {
    Relay.Builder tooMany = Relay.builder(new Able(), publisher).workers(3);
    assertThatIllegalArgumentException()
        .isThrownBy(tooMany::build)
        .withMessage(
            "the store has at most 3 connections, 3 workers need 4: enlarge its pool or use fewer"
                + " workers");
    tooMany.workers(2).build().close();
  }

  @Test
  void settingsOutOfRangeAreNamed() {
    assertRefused(builder().workers(0), "workers is 0, allowed is from 1 to 1000");
    assertRefused(builder().workers(1_001), "workers is 1001");
    assertRefused(builder().batchSize(0), "batchSize is 0");
    assertRefused(builder().batchBytes(0), "batchBytes is 0");
    assertRefused(builder().lease(Duration.ofMillis(99)), "lease is 99ms");
    assertRefused(builder().publishTimeout(Duration.ZERO), "publishTimeout is 0s");
    assertRefused(
        builder().publishTimeout(Duration.ofSeconds(30)),
        "publishTimeout is 30s, it must be below the lease, which is 30s");
    assertRefused(builder().idlePause(Duration.ZERO), "idlePause is 0s");
    assertRefused(builder().stopTimeout(Duration.ZERO), "stopTimeout is 0s");
    assertRefused(builder().name(" "), "name has 1 characters");
    assertRefused(builder().name("x".repeat(201)), "name has 201 characters");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 1_000})
  void settingsInRangeAreTaken(int workers) {
    builder()
        .workers(workers)
        .batchSize(1)
        .batchBytes(1)
        .lease(Duration.ofMillis(100))
        .publishTimeout(Duration.ofMillis(99))
        .idlePause(Duration.ofMillis(1))
        .stopTimeout(Duration.ofMillis(1))
        .name("x".repeat(200))
        .build()
        .close();
  }

  @Test
  void settingsAtTheirMostAreTakenAndAboveRefused() {
    Duration day = Duration.ofDays(1);
    Duration more = day.plusMillis(1);
    builder()
        .batchSize(100_000)
        .batchBytes(Integer.MAX_VALUE)
        .heap(Long.MAX_VALUE)
        .lease(day)
        .idlePause(day)
        .stopTimeout(day)
        .build()
        .close();
    assertRefused(builder().batchSize(100_001), "batchSize is 100001");
    assertRefused(builder().batchBytes(1L + Integer.MAX_VALUE), "batchBytes is 2147483648");
    assertRefused(builder().lease(more), "lease is 86400.001s, allowed is from");
    assertRefused(builder().publishTimeout(more), "publishTimeout is 86400.001s, allowed is from");
    assertRefused(builder().idlePause(more), "idlePause is 86400.001s, allowed is from");
    assertRefused(builder().stopTimeout(more), "stopTimeout is 86400.001s, allowed is from");
  }

  private static void assertRefused(Relay.Builder builder, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(builder::build)
        .withMessageStartingWith(message);
  }

  @Test
  void theDefaultNameIsNotTheSameTwice() {
    assertThat(Settings.defaultName())
        .matches(".+-\\d+-[0-9a-f]{4}")
        .contains("-" + ProcessHandle.current().pid() + "-");
    assertThat(Stream.generate(Settings::defaultName).limit(5).distinct())
        .as("of five random ones two may be the same")
        .hasSizeGreaterThan(1);
  }
}
