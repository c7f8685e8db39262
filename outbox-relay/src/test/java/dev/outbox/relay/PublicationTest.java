package dev.outbox.relay;

import static dev.outbox.relay.Samples.stored;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PublicationTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Duration SHORT = Duration.ofMillis(50);
  private static final Result OK = Result.delivered();

  private final ExecutorService executor = Executors.newCachedThreadPool();
  private final FakePublisher publisher = new FakePublisher();
  private final AtomicLong clock = new AtomicLong();
  private final CountDownLatch hangs = new CountDownLatch(1);

  @AfterEach
  void stop() {
    executor.shutdownNow();
  }

  private Publication finished(MessagePublisher publisher, StoredMessage... messages)
      throws InterruptedException {
    Publication publication =
        new Publication(publisher, List.of(messages), LONG, executor, clock::get);
    publication.start();
    assertThat(publication.await(TimeUnit.MINUTES.toNanos(1))).isTrue();
    return publication;
  }

  private static Result failed(String error) {
    return Result.failed(error);
  }

  @Test
  void givesTheResultsOfOneCall() throws InterruptedException {
    publisher.on("event2", () -> failed("x"));
    Publication publication = finished(publisher, stored(1, "a"), stored(2, "b"));
    assertThat(publication.results()).containsExactly(OK, failed("x"));
    assertThat(publication.broken()).isEmpty();
    assertThat(publisher.calls).containsExactly(List.of(1L, 2L));
  }

  @Test
  void afterAThrowOnlyTheCulpritFailsAndItsKeyWaits() throws InterruptedException {
    publisher.on("event2", FakePublisher.throwing(new IllegalStateException("poison")));
    Publication publication =
        finished(publisher, stored(1, "a"), stored(2, "a"), stored(3, "a"), stored(4, "b"));
    assertThat(publication.results())
        .containsExactly(
            OK, failed("publish threw java.lang.IllegalStateException: poison"), null, OK);
    assertThat(publisher.calls)
        .containsExactly(List.of(1L, 2L, 3L, 4L), List.of(1L), List.of(2L), List.of(4L));
    assertThat(publication.broken()).hasSize(2);
  }

  @Test
  void anExceptionWhoseTextThrowsFailsTheCulprit() throws InterruptedException {
    publisher.on(
        "event1",
        FakePublisher.throwing(
            new IllegalStateException() {
              @Override
              public String getMessage() {
                throw new IllegalStateException("no text");
              }
            }));
    List<Result> results = finished(publisher, stored(1, "a"), stored(2, "b")).results();
    assertThat(results.get(0)).isInstanceOf(Result.Failed.class);
    assertThat(results.get(1)).isEqualTo(OK);
  }

  @Test
  void anInterruptThatTheCulpritLeavesBehindIsNotTheNextOnes() throws InterruptedException {
    MessagePublisher publisher =
        messages -> {
          if (Thread.interrupted()) {
            throw new InterruptedException();
          }
          if (messages.get(0).sequence() == 1) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("poison");
          }
          return List.of(OK);
        };
    assertThat(finished(publisher, stored(1, "a"), stored(2, "b")).results())
        .containsExactly(failed("publish threw java.lang.IllegalStateException: poison"), OK);
  }

  @Test
  void aSingleMessageThatThrowsIsNotTriedAgainAtOnce() throws InterruptedException {
    publisher.whole =
        () -> {
          throw new StackOverflowError();
        };
    Publication publication = finished(publisher, stored(1, "a"));
    assertThat(publication.results())
        .containsExactly(failed("publish threw java.lang.StackOverflowError"));
    assertThat(publisher.calls).hasSize(1);
  }

  @Test
  void anInterruptedExceptionThatNobodyAskedForIsAThrow() throws InterruptedException {
    publisher.whole =
        () -> {
          throw new InterruptedException("from inside");
        };
    assertThat(finished(publisher, stored(1, "a")).results())
        .containsExactly(failed("publish threw java.lang.InterruptedException: from inside"));
  }

  @Test
  void wrongResultsAreAThrow() throws InterruptedException {
    AtomicBoolean first = new AtomicBoolean(true);
    for (List<Result> wrong :
        Arrays.asList(List.of(OK), List.of(OK, OK, OK), Arrays.asList(OK, null), null)) {
      first.set(true);
      Publication publication =
          finished(
              m -> first.getAndSet(false) ? wrong : List.of(OK), stored(1, "a"), stored(2, "a"));
      assertThat(publication.results()).containsExactly(OK, OK);
      assertThat(publication.broken())
          .singleElement()
          .satisfies(b -> assertThat(b.problem()).startsWith("publish returned").contains("(P1)"));
    }
    assertThat(finished(m -> List.of(), stored(1, "a")).results())
        .containsExactly(failed("publish returned 0 results for 1 messages (P1)"));
  }

  @Test
  void oneAtATimeStopsWhenTheBrokerIsGone() throws InterruptedException {
    MessagePublisher gone =
        messages -> {
          if (messages.size() > 1) {
            throw new IllegalStateException();
          }
          return List.of(messages.get(0).sequence() < 2 ? OK : Result.unavailable("no broker"));
        };
    assertThat(finished(gone, stored(1, "a"), stored(2, "b"), stored(3, "c")).results())
        .containsExactly(OK, Result.unavailable("no broker"), null);
  }

  /** One whose publisher hangs, and which was given up. */
  private Publication late(FakePublisher publisher, StoredMessage... messages)
      throws InterruptedException {
    Publication publication =
        new Publication(publisher, List.of(messages), SHORT, executor, clock::get);
    publication.start();
    hangs.await();
    clock.addAndGet(SHORT.toNanos() - 1);
    assertThat(publication.giveUpWhenLate()).as("too early").isFalse();
    clock.addAndGet(1);
    assertThat(publication.giveUpWhenLate()).isTrue();
    return publication;
  }

  private Result hang() throws InterruptedException {
    hangs.countDown();
    new CountDownLatch(1).await();
    throw new AssertionError();
  }

  @Test
  void aHangOfSeveralHasNoKnownCulprit() throws InterruptedException {
    publisher.on("event2", this::hang);
    Publication publication = late(publisher, stored(1, "a"), stored(2, "b"));
    assertThat(publication.culpritUnknown()).isTrue();
    assertThat(publication.broken())
        .extracting(Publication.Broken::problem)
        .containsExactly("publish did not return within 50ms");
    assertThat(publication.await(TimeUnit.MINUTES.toNanos(1))).as("interrupted").isTrue();
    assertThat(publication.results()).containsExactly(null, null);
    assertThat(publisher.calls).as("no more calls").hasSize(1);
  }

  @Test
  void aHangOfOneFailsIt() throws InterruptedException {
    publisher.on("event1", this::hang);
    Publication publication = late(publisher, stored(1, "a"));
    assertThat(publication.culpritUnknown()).isFalse();
    assertThat(publication.results()).containsExactly(failed("publish did not return within 50ms"));
  }

  @Test
  void aHangWhileOneAtATimeFailsTheCulpritAndKeepsTheOthersResults() throws InterruptedException {
    publisher.on(
        "event3",
        () -> {
          if (publisher.calls.size() == 1) {
            throw new IllegalStateException("together");
          }
          return hang();
        });
    Publication publication =
        late(publisher, stored(1, "a"), stored(2, "b"), stored(3, "c"), stored(4, "d"));
    assertThat(publication.culpritUnknown()).isFalse();
    assertThat(publication.results())
        .containsExactly(OK, OK, failed("publish did not return within 50ms"), null);
    assertThat(publication.await(TimeUnit.MINUTES.toNanos(1))).as("interrupted").isTrue();
    assertThat(publisher.calls).as("together, then three").hasSize(4);
  }

  @Test
  void aCallInTimeIsNotGivenUp() throws InterruptedException {
    Publication publication = finished(publisher, stored(1, "a"));
    assertThat(publication.giveUpWhenLate()).isFalse();
    assertThat(publication.left()).isPositive().isLessThanOrEqualTo(LONG.toNanos());
    clock.addAndGet(LONG.toNanos());
    assertThat(publication.giveUpWhenLate()).as("it came while nobody looked").isFalse();
  }

  /**
   * As where a relay is closed just then: what was claimed is released, and not left to its lease.
   */
  @Test
  void whereNothingIsBegunAnyMoreItIsFinishedWithoutResults() throws InterruptedException {
    executor.shutdown();
    assertThat(finished(publisher, stored(1, "a"), stored(2, "b")).results())
        .containsExactly(null, null);
    assertThat(publisher.calls).isEmpty();
  }

  @Test
  void oneAtATimeBeginsNoCallAfterItsTime() throws InterruptedException {
    publisher.whole =
        () -> {
          if (publisher.calls.size() == 1) {
            throw new IllegalStateException("together");
          }
          clock.addAndGet(SHORT.toNanos() / 2);
          return OK;
        };
    StoredMessage[] messages = new StoredMessage[100];
    Arrays.setAll(messages, i -> stored(i, "key" + i));
    Publication publication =
        new Publication(publisher, List.of(messages), SHORT, executor, clock::get);
    publication.start();
    assertThat(publication.await(TimeUnit.MINUTES.toNanos(1))).isTrue();
    assertThat(publication.results()).startsWith(OK, OK, null).hasSize(100);
  }
}
