package dev.outbox.relay;

import static dev.outbox.relay.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxException;
import dev.outbox.PermanentOutboxException;
import dev.outbox.TransientOutboxException;
import dev.outbox.relay.Worker.Round;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.memory.MemoryOutboxStore;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** One worker, round by round, over a memory store whose clock the test moves. */
class WorkerTest {
  private static final Duration LEASE = Duration.ofMinutes(1);
  private static final Duration LONG_PAUSE = Duration.ofHours(1);
  private static final Claim.Request ALL =
      new Claim.Request("other", 1_000, Long.MAX_VALUE, Duration.ofMinutes(1));

  private final AtomicReference<Instant> now = new AtomicReference<>(Instant.EPOCH);
  private final FaultyStore store = new FaultyStore(now::get);
  private final FakePublisher publisher = new FakePublisher();
  private final Recorder events = new Recorder();
  private ThreadPoolExecutor publishing = (ThreadPoolExecutor) Executors.newCachedThreadPool();
  private final AtomicLong clock = new AtomicLong();

  /** How many nanoseconds have passed for the worker while nothing ran. */
  private final AtomicLong stoodStill = new AtomicLong();

  private final Pauses pauses = new Pauses(LONG_PAUSE, () -> 0, clock::get);
  private final Waiting waiting = new Waiting(Duration.ofSeconds(10), pauses, System::nanoTime);

  /** Leaves no time to stop. */
  private final Waiting brief = new Waiting(Duration.ofMillis(1), pauses, System::nanoTime);

  private Worker worker = worker(publisher, LEASE, LEASE.dividedBy(2));

  @AfterEach
  void stop() {
    publishing.shutdownNow();
  }

  private Worker worker(MessagePublisher publisher, Duration lease, Duration publishTimeout) {
    return worker(publisher, lease, publishTimeout, events, waiting, store);
  }

  private Worker worker(
      MessagePublisher publisher,
      Duration lease,
      Duration publishTimeout,
      RelayListener listener,
      Waiting waiting,
      Claim.Source source) {
    Duration ignored = Duration.ofSeconds(10);
    Settings settings =
        new Settings("relay", 1, 100, 1_000_000, lease, publishTimeout, ignored, ignored);
    RetryPolicy policy = RetryPolicy.builder().maxAttempts(3).build();
    Verdicts verdicts = new Verdicts("relay", policy, Set.of(), new Destinations(), listener);
    Breaker breaker = new Breaker("relay", 100, () -> 0, listener);
    return new Worker(
        "relay/0",
        source,
        new Worker.Shared(
            publisher,
            settings,
            verdicts,
            breaker,
            new OperatorPauses("relay", store, listener, clock::get),
            waiting,
            listener,
            publishing,
            () -> System.nanoTime() + stoodStill.get()));
  }

  /** As many rounds as there is something to do. */
  private void drain() throws InterruptedException {
    Round round;
    do {
      round = worker.round();
    } while (round == Round.BUSY);
  }

  /** From now on pauses are long, as long as there is no work. */
  private void nothingHappensForLong() {
    clock.addAndGet(Duration.ofDays(1_000).toNanos());
    while (pauses.next() < LONG_PAUSE.toNanos()) {}
  }

  private void later(Duration time) {
    now.updateAndGet(t -> t.plus(time));
  }

  private List<StoredMessage> claimable() {
    var claim = store.claim(ALL);
    var messages = claim.messages();
    claim.settle(Map.of());
    return messages;
  }

  @Test
  void claimsPublishesSettlesAndTakesTheNextClaimAlong() throws InterruptedException {
    store.append("a", "1", "2");
    assertThat(worker.round()).isEqualTo(Round.BUSY);
    assertThat(store.claims).hasValue(2);
    assertThat(worker.round()).isEqualTo(Round.IDLE);
    assertThat(store.claims).hasValue(2);
    assertThat(publisher.deliveredEvents()).containsExactly("1", "2");
    assertThat(events.all())
        .containsExactly("claimed [1, 2]", "published [1, 2]", "delivered 1", "delivered 2");
    assertThat(store.statistics(10_000).pending()).isZero();
  }

  @Test
  void whereAClaimSaysThatThereIsMoreAnotherWorkerClaimsMeanwhile() throws InterruptedException {
    store.hasMore = true;
    publisher.on(
        "1",
        () -> {
          nothingHappensForLong();
          waiting.idle("another", waiting.announcements()); // returns at once
          return Result.delivered();
        });
    store.append("a", "1");
    drain();
    assertThat(publisher.deliveredEvents()).containsExactly("1");
  }

  @Test
  void aFailedMessageIsTriedAgainAndItsKeyWaits() throws InterruptedException {
    publisher.on("1", () -> Result.failed("x"));
    store.append("a", "1", "2");
    store.append("b", "3");
    drain();
    assertThat(publisher.deliveredEvents()).containsExactly("3");
    later(Duration.ofMinutes(6));
    drain();
    later(Duration.ofMinutes(6));
    drain();
    assertThat(events.of("retried")).containsExactly("retried 1 true x", "retried 1 true x");
    assertThat(events.of("dead")).containsExactly("dead 1 x");
    assertThat(publisher.deliveredEvents()).containsExactly("3", "2");
    assertThat(store.deadLetters(0, 9))
        .singleElement()
        .satisfies(d -> assertThat(d.message().attempts()).isEqualTo(3));
  }

  @Test
  void anOutageOfThousandsOfRoundsCountsMovesAndKillsNothing() throws InterruptedException {
    for (int i = 0; i < 20; i++) {
      store.append("key" + i % 5, "event");
    }
    publisher.whole = () -> Result.unavailable("no broker");
    for (int i = 0; i < 3_000; i++) {
      // with a closed breaker, so that the test need not wait
      Worker fresh = worker(publisher, LEASE, LEASE.dividedBy(2));
      assertThat(fresh.round()).isEqualTo(Round.IDLE);
      fresh.release();
    }
    assertThat(claimable())
        .hasSize(20)
        .allSatisfy(m -> assertThat(m.attempts()).isZero())
        .extracting(StoredMessage::sequence)
        .isSubsetOf(LongStream.rangeClosed(1, 20).boxed().toList());
    assertThat(store.deadLetters(0, 1)).isEmpty();
    assertThat(store.statistics(10_000).pending()).as("none was moved").isEqualTo(20);
  }

  @Test
  void noClaimIsTakenAlongWhenTheBrokerIsGone() throws InterruptedException {
    publisher.on("1", () -> Result.rejected("too large"));
    publisher.on("2", () -> Result.unavailable("no broker"));
    store.append("a", "1");
    store.append("b", "2");
    worker.round();
    assertThat(events.of("dead")).containsExactly("dead 1 too large");
    assertThat(store.claims).hasValue(1);
  }

  @Test
  void aPublisherThatBreaksOrderIsReportedAndNotBelieved() throws InterruptedException {
    store.append("a", "1", "2");
    Set<Long> bad = new HashSet<>(Set.of(1L));
    MessagePublisher careless =
        m ->
            m.stream()
                .map(x -> bad.remove(x.sequence()) ? Result.failed("x") : Result.delivered())
                .toList();
    worker = worker(careless, LEASE, LEASE.dividedBy(2));
    worker.round();
    worker.release();
    assertThat(events.of("broken")).singleElement().asString().contains("(P2)");
    assertThat(events.of("delivered")).isEmpty();
    later(Duration.ofMinutes(6));
    drain();
    assertThat(events.of("delivered")).containsExactly("delivered 1", "delivered 2");
  }

  @Test
  void aProcessThatWasStoppedGivesThePublisherItsTimeOnceMore() throws InterruptedException {
    publisher.whole =
        () -> {
          stoodStill.compareAndSet(0, LEASE.toNanos());
          await().until(() -> !events.of("stoodStill").isEmpty());
          return Result.delivered();
        };
    store.append("a", "1");
    store.append("b", "2");
    worker.round();
    assertThat(events.of("stoodStill")).isNotEmpty();
    assertThat(events.of("broken")).as("the publisher is not to blame").isEmpty();
    assertThat(events.of("delivered")).hasSize(2);
  }

  /** From now on it happens when the worker hands a call of the publisher to its thread. */
  private void beforeEachCall(Runnable happens) {
    publishing =
        new ThreadPoolExecutor(0, 1, 1, TimeUnit.SECONDS, new SynchronousQueue<>()) {
          @Override
          public void execute(Runnable command) {
            happens.run();
            super.execute(command);
          }
        };
    worker = worker(publisher, LEASE, LEASE.dividedBy(2));
  }

  @Test
  void aProcessThatWasStoppedBeforeTheWorkerLookedBlamesNobodyEither() throws InterruptedException {
    beforeEachCall(() -> stoodStill.compareAndSet(0, LEASE.toNanos()));
    publisher.whole =
        () -> {
          await().until(() -> !events.of("stoodStill").isEmpty());
          return Result.delivered();
        };
    store.append("a", "1");
    store.append("b", "2");
    worker.round();
    assertThat(events.of("broken")).as("the publisher is not to blame").isEmpty();
    assertThat(events.of("delivered")).hasSize(2);
  }

  @Test
  void aHangOfSeveralIsLeftToTheLeaseAndTheWorkerGoesOn() throws InterruptedException {
    worker = worker(publisher, LEASE, Duration.ofSeconds(1));
    publisher.on("hang", FakePublisher.waiting(new CountDownLatch(1), new CountDownLatch(1)));
    store.append("a", "hang");
    store.append("b", "2");
    assertThat(worker.round()).isEqualTo(Round.BUSY);
    assertThat(events.of("abandoned"))
        .containsExactly("abandoned [1, 2] publish did not return within 1s");
    assertThat(store.settles).hasValue(0);
    store.append("c", "3");
    drain();
    assertThat(publisher.deliveredEvents()).containsExactly("3");
    later(Duration.ofMinutes(1));
    assertThat(claimable()).extracting(StoredMessage::attempts).containsExactly(0, 0);
  }

  @Test
  void poisonThatHangsIsIsolatedByTheStoreAndEndsAsADeadLetter() throws InterruptedException {
    worker = worker(publisher, LEASE, Duration.ofMillis(300));
    publisher.on("hang", FakePublisher.waiting(new CountDownLatch(1), new CountDownLatch(1)));
    store.append("a", "hang", "next");
    store.append("b", "2");
    for (int i = 0; i < 12 && store.deadLetters(0, 9).isEmpty(); i++) {
      drain();
      later(Duration.ofMinutes(6));
    }
    drain();
    assertThat(store.deadLetters(0, 9))
        .extracting(d -> d.message().message().eventType())
        .containsExactly("hang");
    assertThat(events.of("delivered")).containsExactlyInAnyOrder("delivered 2", "delivered 3");
    assertThat(store.deadLetters(0, 9).get(0).message().attempts()).isEqualTo(3);
  }

  @Test
  void whatItHasNoThreadForIsFreeAtOnce() throws InterruptedException {
    AtomicBoolean full = new AtomicBoolean(true);
    beforeEachCall(
        () -> {
          if (full.get()) {
            throw new OutOfMemoryError("unable to create native thread");
          }
        });
    store.append("a", "1");
    assertThatThrownBy(worker::round).isInstanceOf(OutOfMemoryError.class);
    assertThat(claimable()).singleElement().satisfies(m -> assertThat(m.attempts()).isZero());
    full.set(false);
    drain();
    assertThat(publisher.deliveredEvents()).containsExactly("1");
  }

  @Test
  void callsThatNeverReturnDoNotFillTheProcess() throws InterruptedException {
    worker = worker(publisher, LEASE, Duration.ofMillis(20));
    AtomicBoolean hanging = new AtomicBoolean(true);
    publisher.whole =
        () -> {
          while (hanging.get()) {
            LockSupport.parkNanos(1_000_000);
            boolean ignored = Thread.interrupted();
          }
          return Result.delivered();
        };
    int messages = 0;
    for (int more = 0; more < 10 && messages < 1_000; messages++) {
      store.append("key" + messages, "event");
      worker.round(); // which gives a call up before it has begun, where the machine is busy
      more += publisher.calls.size() < 10 ? 0 : 1;
    }
    assertThat(publisher.calls).hasSize(10);
    assertThat(worker.round()).isEqualTo(Round.REFUSED);
    assertThat(events.of("broken 10 publish calls have not returned")).isNotEmpty();
    worker.release();
    hanging.set(false);
    await().until(() -> publishing.getActiveCount() == 0);
    worker = worker(publisher, LEASE, LEASE.dividedBy(2));
    later(Duration.ofHours(1));
    drain();
    later(Duration.ofHours(1));
    drain();
    assertThat(events.of("delivered")).hasSize(messages);
  }

  @Test
  void aRenewalThatFailsIsTriedAgain() throws InterruptedException {
    worker = worker(publisher, Duration.ofMillis(1_500), Duration.ofMillis(1_400));
    CountDownLatch renewals = new CountDownLatch(2);
    store.beforeRenew =
        () -> {
          renewals.countDown();
          if (renewals.getCount() > 0) {
            throw new TransientOutboxException("no connection");
          }
        };
    publisher.whole =
        () -> {
          renewals.await();
          return Result.delivered();
        };
    store.append("a", "1");
    drain();
    assertThat(events.of("storeFailed")).containsExactly("storeFailed renew no connection");
    assertThat(events.of("delivered")).hasSize(1);
  }

  @Test
  void whatARenewalLostGetsNoDecision() throws InterruptedException {
    worker = worker(publisher, Duration.ofMillis(1_500), Duration.ofMillis(1_400));
    CountDownLatch renewed = new CountDownLatch(1);
    store.append("a", "1");
    store.beforeRenew =
        () -> {
          store.beforeRenew = FaultyStore.NOTHING;
          later(Duration.ofMinutes(1));
          store.claim(ALL); // takes over, and keeps it
          renewed.countDown();
        };
    publisher.whole =
        () -> {
          renewed.await();
          return Result.delivered();
        };
    drain();
    assertThat(events.of("lost")).containsExactly("lost [1]");
    assertThat(events.of("delivered")).isEmpty();
    assertThat(store.decisions).containsExactly(Map.of());
  }

  @Test
  void whatSettleLostIsReported() throws InterruptedException {
    store.append("a", "1");
    publisher.whole =
        () -> {
          later(Duration.ofMinutes(1));
          store.claim(ALL);
          return Result.delivered();
        };
    drain();
    assertThat(events.of("lost")).containsExactly("lost [1]");
    assertThat(events.of("delivered")).isEmpty();
    later(Duration.ofMinutes(2));
    publisher.whole = Result::delivered;
    drain();
    assertThat(events.of("delivered")).containsExactly("delivered 1");
  }

  /** A server that is read-only for a moment, as while another takes its place, refuses it too. */
  static Stream<OutboxException> settling() {
    return Stream.of(new TransientOutboxException("down"), new PermanentOutboxException("down"));
  }

  @ParameterizedTest
  @MethodSource("settling")
  void aSettleThatFailsForAWhileIsRepeated(OutboxException error) throws InterruptedException {
    store.append("a", "1");
    store.beforeSettle = FaultyStore.failing(3, error);
    assertThat(worker.round()).isEqualTo(Round.BUSY);
    assertThat(events.of("storeFailed")).hasSize(3).containsOnly("storeFailed settle down");
    assertThat(events.of("abandoned")).isEmpty();
    assertThat(events.all()).contains("recovered", "delivered 1");
    assertThat(publisher.delivered).hasSize(1);
  }

  /** Gives up its settle of message 1, whose lease is short. */
  private void settleInVain(OutboxException error) throws InterruptedException {
    worker = worker(publisher, Duration.ofMillis(300), Duration.ofMillis(290));
    store.append("a", "1");
    store.beforeSettle = FaultyStore.failing(1_000, error);
    assertThat(worker.round()).isEqualTo(Round.TROUBLE);
    assertThat(events.of("abandoned")).containsExactly("abandoned [1] settle failed: down");
    store.beforeSettle = FaultyStore.NOTHING;
    assertThat(worker.round()).isEqualTo(Round.IDLE);
    assertThat(events.of("recovered")).isEmpty();
    later(LEASE.multipliedBy(2));
  }

  /** A claim of nothing, and its settle of nothing, do not show that it may settle now. */
  @ParameterizedTest
  @MethodSource("settling")
  void aSettleThatKeepsFailingIsOverWhenOneWorks(OutboxException error)
      throws InterruptedException {
    settleInVain(error);
    drain();
    assertThat(events.of("recovered")).hasSize(1);
    assertThat(events.of("delivered")).containsExactly("delivered 1");
  }

  /**
   * While a disk is full each claim works, and each settle of nothing. But another relay may have
   * settled what this one had: an outage must not stay for ever.
   */
  @Test
  void aSettleThatFailedIsOverAMinuteAfterTheLastThatDid() throws InterruptedException {
    settleInVain(new TransientOutboxException("down"));
    assertThat(store.claim(ALL).settle(Map.of(1L, Decision.delivered()))).isEmpty();
    stoodStill.set(Duration.ofMinutes(1).toNanos());
    assertThat(worker.round()).isEqualTo(Round.IDLE);
    assertThat(events.of("recovered")).hasSize(1);
  }

  @Test
  void aClaimThatFailsIsTrouble() throws InterruptedException {
    store.append("a", "1");
    store.beforeClaim = FaultyStore.failing(1, new PermanentOutboxException("no such table"));
    assertThat(worker.round()).isEqualTo(Round.TROUBLE);
    drain();
    assertThat(events.all())
        .containsExactly(
            "storeFailed claim no such table",
            "claimed [1]",
            "published [1]",
            "recovered",
            "delivered 1");
  }

  @Test
  void aClaimThatFailsAfterTheSettleLosesNothing() throws InterruptedException {
    store.append("a", "1");
    store.append("b", "2");
    publisher.on(
        "1",
        () -> {
          store.beforeClaim = FaultyStore.failing(1, new TransientOutboxException("gone"));
          return Result.delivered();
        });
    drain();
    assertThat(store.statistics(10_000).pending()).isZero();
    assertThat(events.of("storeFailed")).hasSize(1);
    assertThat(events.of("abandoned")).isEmpty();
    assertThat(publisher.delivered).hasSize(2);
  }

  @Test
  void neverHasTwoClaims() throws InterruptedException {
    for (int i = 0; i < 250; i++) {
      store.append("key" + i, "event");
    }
    store.beforeClaim = () -> assertThat(store.settles).hasValue(store.claims.get() - 1);
    drain();
    assertThat(store.claims.get()).isGreaterThanOrEqualTo(4);
    assertThat(publisher.delivered).hasSize(250);
    assertThat(events.of("storeFailed")).isEmpty();
  }

  @Test
  void aClaimTakenAlongIsGivenBackWhenNotBegun() throws InterruptedException {
    for (int i = 0; i < 150; i++) {
      store.append("key" + i, "event");
    }
    assertThat(worker.round()).isEqualTo(Round.BUSY);
    assertThat(claimable()).isEmpty();
    worker.release();
    assertThat(claimable()).hasSize(50);
  }

  /** Runs the worker until it rests, or shows by too many events or claims that it does not. */
  private void runUntilItRests(Runnable check) throws InterruptedException {
    Thread thread = new Thread(worker::run);
    thread.start();
    await()
        .until(
            () ->
                thread.getState() == Thread.State.TIMED_WAITING
                    || store.claims.get() + events.all().size() > 1_000);
    waiting.stop(Duration.ZERO);
    thread.join();
    check.run();
  }

  @Test
  void restsWhenThereIsNothingToDo() throws InterruptedException {
    nothingHappensForLong();
    runUntilItRests(() -> assertThat(store.claims).hasValue(1));
  }

  /** As a store whose relay holds keys: a settle looks at nothing more. */
  private final class SettlesOnly implements Claim.Source {
    @Override
    public Claim claim(Claim.Request request) {
      return store.claim(request);
    }

    @Override
    public Settled settleAndClaim(Claim done, Map<Long, Decision> decisions, Claim.Request next) {
      return new Settled(done.settle(decisions), new MemoryOutboxStore().claim(next));
    }
  }

  @Test
  void looksAgainWhenSomethingWasAnnouncedWhileItHadTheKey() throws InterruptedException {
    nothingHappensForLong();
    worker = worker(publisher, LEASE, LEASE.dividedBy(2), events, waiting, new SettlesOnly());
    publisher.on(
        "first",
        () -> {
          store.append("k", "second");
          waiting.announced();
          waiting.idle("another worker", waiting.announcements()); // looks in vain: the key is ours
          return Result.delivered();
        });
    Thread thread = new Thread(worker::run);
    thread.start();
    await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
    store.append("k", "first");
    waiting.announced();
    await().until(() -> publisher.deliveredEvents().size() == 2);
    waiting.stop(Duration.ZERO);
    thread.join();
    assertThat(publisher.deliveredEvents()).containsExactly("first", "second");
  }

  @Test
  void restsWhenTheStoreFails() throws InterruptedException {
    store.beforeClaim =
        FaultyStore.failing(1_000_000, new PermanentOutboxException("no such table"));
    runUntilItRests(() -> assertThat(events.of("storeFailed claim")).hasSizeLessThan(10));
  }

  @Test
  void restsAfterAnErrorThatNobodyExpected() throws InterruptedException {
    store.beforeClaim =
        () -> {
          throw new AssertionError("a bug");
        };
    runUntilItRests(() -> assertThat(events.of("storeFailed work")).hasSizeLessThan(10));
  }

  @Test
  void restsWhileTooManyCallsHang() throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    for (int i = 0; i < 10; i++) {
      var unused =
          publishing.submit(
              () -> {
                never.await();
                return null;
              });
    }
    runUntilItRests(() -> assertThat(events.of("broken 10 publish calls")).hasSizeLessThan(10));
    assertThat(store.claims).hasValue(0);
  }

  @Test
  void anInterruptWhilePublishingReachesThePublisher() throws InterruptedException {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    publisher.whole =
        () -> {
          inside.countDown();
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            interrupted.countDown();
          }
          return Result.failed("interrupted");
        };
    store.append("a", "1");
    Thread thread = new Thread(worker::run);
    thread.start();
    inside.await();
    thread.interrupt();
    assertThat(interrupted.await(1, TimeUnit.MINUTES)).isTrue();
    waiting.stop(Duration.ZERO);
    thread.join();
  }

  @Test
  void workMakesPausesShortAgain() throws InterruptedException {
    nothingHappensForLong();
    store.append("a", "1");
    drain();
    assertThat(pauses.next()).isEqualTo(Pauses.FIRST.toNanos());
  }

  @Test
  void eventsSayHowLongItTook() throws InterruptedException {
    List<Duration> times = new CopyOnWriteArrayList<>();
    RelayListener timing =
        event -> {
          if (event instanceof RelayEvent.Claimed e) {
            times.add(e.took());
          } else if (event instanceof RelayEvent.Published e) {
            times.add(e.took());
          }
        };
    worker = worker(publisher, LEASE, LEASE.dividedBy(2), timing, waiting, store);
    store.append("a", "1");
    long before = System.nanoTime();
    drain();
    Duration all = Duration.ofNanos(System.nanoTime() - before);
    assertThat(times).hasSize(2).allSatisfy(t -> assertThat(t).isBetween(Duration.ZERO, all));
  }

  @Test
  void aSettleIsNotTriedAgainPastTheTimeToStop() throws InterruptedException {
    store.append("a", "1");
    publisher.whole =
        () -> {
          brief.stop(Duration.ZERO);
          await().until(() -> brief.leftToStop() <= 0);
          return Result.delivered();
        };
    worker = worker(publisher, LEASE, LEASE.dividedBy(2), events, brief, store);
    store.beforeSettle = FaultyStore.failing(1_000_000, new TransientOutboxException("down"));
    assertThat(worker.round()).isEqualTo(Round.TROUBLE);
    assertThat(store.settles).hasValue(1);
    assertThat(events.of("abandoned")).containsExactly("abandoned [1] settle failed: down");
  }

  @Test
  void aReleaseThatFailsIsReported() throws InterruptedException {
    for (int i = 0; i < 150; i++) {
      store.append("key" + i, "event");
    }
    worker.round();
    store.beforeSettle = FaultyStore.failing(1, new TransientOutboxException("down"));
    worker.release();
    assertThat(events.of("storeFailed")).containsExactly("storeFailed settle down");
  }
}
