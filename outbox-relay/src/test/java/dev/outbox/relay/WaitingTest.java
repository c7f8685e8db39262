package dev.outbox.relay;

import static dev.outbox.relay.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WaitingTest {
  private static final Duration FOREVER = Duration.ofHours(1);

  private final AtomicLong clock = new AtomicLong();
  private final Pauses pauses = new Pauses(FOREVER, () -> 0, clock::get);
  private final AtomicLong time = new AtomicLong();
  private final Waiting waiting = new Waiting(Duration.ofSeconds(8), pauses, time::get);
  private final Object one = "one";
  private final Object other = "other";

  /** From now on a poller's pause is an hour, as long as there is no work. */
  @BeforeEach
  void nothingHappensForLong() {
    clock.addAndGet(Duration.ofDays(1_000).toNanos());
    while (pauses.next() < FOREVER.toNanos()) {}
  }

  private interface Wait {
    void run() throws InterruptedException;
  }

  private static CompletableFuture<Void> inBackground(Wait wait) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                wait.run();
                done.complete(null);
              } catch (Throwable e) {
                done.completeExceptionally(e);
              }
            });
    thread.setDaemon(true);
    thread.start();
    await().until(() -> thread.getState() == Thread.State.TIMED_WAITING || done.isDone());
    return done;
  }

  /** After a claim that missed nothing of what was announced. */
  private void idle(Object worker) throws InterruptedException {
    waiting.idle(worker, waiting.announcements());
  }

  @Test
  void aCommitDuringAPollThatTookLongIsNotForgotten() throws Exception {
    committed(1);
    time.addAndGet(Duration.ofSeconds(1).toNanos());
    idle(one); // returns, though the pause would be an hour
    idle(one); // pauses are small again
    assertWaitsForLong();
  }

  @Test
  void aCommitWhoseMessagesDoNotComeMakesPausesBeginSmallAgain() throws Exception {
    committed(1);
    idle(one);
    time.addAndGet(Duration.ofMillis(50).toNanos());
    idle(one); // returns, though the pause would be an hour
    assertThat(pauses.next()).isEqualTo(2 * Pauses.FIRST.toNanos());
  }

  @Test
  void itPollsQuicklyUntilAsManyMessagesWereFoundAsWereCommitted() throws Exception {
    committed(2);
    committed(1);
    idle(one);
    waiting.working(one, 2);
    idle(one); // returns, though the pause would be an hour
    waiting.working(one, 2);
    assertWaitsForLong();
  }

  @Test
  void messagesThatWereNotAnnouncedMakePausesBeginSmallAgain() throws Exception {
    committed(1);
    idle(one);
    idle(one); // quickly, and told of nothing
    waiting.working(one, 2);
    assertThat(pauses.next())
        .as("what was announced tells nothing of others")
        .isEqualTo(FOREVER.toNanos());
    waiting.working(one, 1);
    assertThat(pauses.next()).isEqualTo(Pauses.FIRST.toNanos());
  }

  /** Ten commits a second in other processes, announced 4 ms later: a poll may be quicker. */
  @Test
  void pollsThatAreQuickerThanAnAnnouncementDoNotKeepPausesShort() throws Exception {
    long seed = ThreadLocalRandom.current().nextLong();
    Random random = new Random(seed);
    Pauses short500 = new Pauses(Duration.ofMillis(500), random::nextDouble, clock::get);
    Waiting fleet = new Waiting(FOREVER, short500, clock::get);
    long end = clock.get() + Duration.ofMinutes(10).toNanos();
    long commit = clock.get();
    long poll = commit;
    boolean isRead = true;
    int polls = 0;
    while (clock.get() < end) {
      long announcement = commit + Duration.ofMillis(4).toNanos();
      clock.set(Math.min(poll, announcement));
      if (poll < announcement) {
        polls++;
      } else {
        fleet.announcedByOthers();
      }
      fleet.idle(one, fleet.announcements() - 1); // its pause is over
      if (!isRead && clock.get() >= commit) {
        fleet.working(one, 1);
        isRead = true;
      }
      poll = clock.get() + short500.next();
      if (clock.get() == announcement) {
        double seconds = -Math.log(1 - random.nextDouble()) / 10;
        commit = Math.max(announcement, commit + (long) (seconds * 1e9));
        isRead = false;
      }
    }
    assertThat(polls).as("in ten minutes, seed %s", seed).isLessThan(3_000);
  }

  @Test
  void whatWasToldOfWhileAllWorkersWorkDoesNot() {
    waiting.wake();
    waiting.working(one, 1);
    assertThat(pauses.next()).isEqualTo(FOREVER.toNanos());
  }

  @Test
  void afterACommitItPollsAtOnce() throws Exception {
    CompletableFuture<Void> idle = inBackground(() -> idle(one));
    committed(1);
    idle.get(1, TimeUnit.MINUTES);
    committed(1);
    idle(one); // what was committed while it polled
    waiting.working(one, 2);
    assertWaitsForLong();
  }

  /** What was committed is found, so a pause has its whole length. */
  private void assertWaitsForLong() throws Exception {
    nothingHappensForLong();
    CompletableFuture<Void> next = inBackground(() -> idle(one));
    endsWithTheStop(next);
  }

  private void endsWithTheStop(CompletableFuture<Void> wait) throws Exception {
    assertThat(wait).isNotDone();
    waiting.stop(Duration.ZERO);
    wait.get(1, TimeUnit.MINUTES);
  }

  private void committed(int messages) {
    waiting.expect(messages);
    waiting.committed();
  }

  @Test
  void afterACommitItPollsQuicklyWhereAnotherClaimMayHaveHadTheKey() throws Exception {
    committed(1);
    idle(one);
    idle(one); // returns, though the pause would be an hour
    waiting.working(one, 1);
    assertWaitsForLong();
  }

  @Test
  void whatOthersPublishIsNotWaitedFor() throws Exception {
    waiting.expect(2);
    waiting.committed();
    waiting.expectLess(2);
    idle(one);
    assertWaitsForLong();
    assertThat(pauses.next()).isEqualTo(FOREVER.toNanos());
  }

  @Test
  void whatOthersAnnounceIsFoundByOnePoll() throws Exception {
    CompletableFuture<Void> idle = inBackground(() -> idle(one));
    waiting.announcedByOthers();
    idle.get(1, TimeUnit.MINUTES);
    waiting.working(one, 2);
    assertThat(pauses.next())
        .as("it says nothing of what is not announced")
        .isEqualTo(FOREVER.toNanos());
    CompletableFuture<Void> next = inBackground(() -> idle(one));
    assertThat(next).as("nothing more is expected").isNotDone();
    waiting.announcedByOthers();
    next.get(1, TimeUnit.MINUTES);
    CompletableFuture<Void> none = inBackground(() -> idle(one));
    assertThat(none).as("it was found by another's poll").isNotDone();
    waiting.expectRetries();
    assertThat(pauses.next()).isEqualTo(Pauses.FIRST.toNanos());
    waiting.stop(Duration.ZERO);
    none.get(1, TimeUnit.MINUTES);
  }

  @Test
  void whatIsAnnouncedDuringAPollIsLookedForOnceMore() throws Exception {
    int before = waiting.announcements();
    waiting.announced();
    waiting.idle(one, before); // returns, though the pause would be an hour
    assertWaitsForLong();
  }

  @Test
  void oneWorkerPollsAndHandsItsTurnOverWhenItFindsWork() throws Exception {
    CompletableFuture<Void> poller = inBackground(() -> idle(one));
    CompletableFuture<Void> next = inBackground(() -> idle(other));
    committed(1);
    poller.get(1, TimeUnit.MINUTES);
    waiting.working(other, 1);
    assertThat(next).as("it was not the other's turn").isNotDone();
    pauses.worked();
    waiting.working(one, 1);
    next.get(1, TimeUnit.MINUTES); // its pause is short

    nothingHappensForLong();
    CompletableFuture<Void> first = inBackground(() -> idle(one));
    committed(1);
    idle(other); // still the other's turn
    endsWithTheStop(first);
  }

  @Test
  void whoPausesBecauseOfTroubleLetsAnotherPoll() throws Exception {
    committed(1);
    idle(one);
    pauses.worked();
    CompletableFuture<Void> next = inBackground(() -> idle(other));
    CompletableFuture<Void> trouble = inBackground(() -> waiting.pause(one, FOREVER.toNanos()));
    next.get(1, TimeUnit.MINUTES);
    endsWithTheStop(trouble);
  }

  @Test
  void aPollerThatDoesNotComeBackLosesItsTurn() throws Exception {
    committed(1);
    idle(one);
    idle(one); // and then the store does not answer it
    pauses.worked();
    time.addAndGet(Duration.ofSeconds(2).toNanos());
    CompletableFuture<Void> next = inBackground(() -> idle(other));
    next.get(1, TimeUnit.MINUTES);
    nothingHappensForLong();
    CompletableFuture<Void> late = inBackground(() -> idle(one));
    CompletableFuture<Void> poller = inBackground(() -> idle(other));
    committed(1);
    poller.get(1, TimeUnit.MINUTES);
    endsWithTheStop(late);
  }

  @Test
  void stopEndsEveryWait() throws Exception {
    CompletableFuture<Void> idle = inBackground(() -> idle(one));
    CompletableFuture<Void> turn = inBackground(() -> idle(other));
    CompletableFuture<Void> pause = inBackground(() -> waiting.pause(this, FOREVER.toNanos()));
    assertThat(waiting.stopping()).isFalse();
    waiting.stop(Duration.ZERO);
    idle.get(1, TimeUnit.MINUTES);
    turn.get(1, TimeUnit.MINUTES);
    pause.get(1, TimeUnit.MINUTES);
    assertThat(waiting.stopping()).isTrue();
    idle(one);
    waiting.pause(one, FOREVER.toNanos());
  }

  @Test
  void aCommitDoesNotEndAPause() throws Exception {
    CompletableFuture<Void> pause = inBackground(() -> waiting.pause(other, FOREVER.toNanos()));
    CompletableFuture<Void> idle = inBackground(() -> idle(one));
    committed(1);
    idle.get(1, TimeUnit.MINUTES);
    endsWithTheStop(pause);
  }

  @Test
  void keepsPartOfTheTimeToStopForSettling() {
    waiting.stop(Duration.ZERO);
    long left = waiting.leftToStop();
    assertThat(left).isEqualTo(Duration.ofSeconds(8).toNanos());
    assertThat(waiting.leftToPublish()).isEqualTo(Duration.ofSeconds(6).toNanos());
    time.addAndGet(1);
    waiting.stop(Duration.ZERO);
    assertThat(waiting.leftToStop()).as("the first stop counts").isEqualTo(left - 1);
  }
}
