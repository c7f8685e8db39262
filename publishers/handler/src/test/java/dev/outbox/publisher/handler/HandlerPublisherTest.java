package dev.outbox.publisher.handler;

import static dev.outbox.publisher.handler.TestMessages.await;
import static dev.outbox.publisher.handler.TestMessages.publishOne;
import static dev.outbox.publisher.handler.TestMessages.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
class HandlerPublisherTest {
  /** So long that no handler's time is over in a test. */
  private static final Duration LONG = Duration.ofHours(1);

  /**
   * So short that a handler's time is over soon: after half a second. Where the machine stands
   * still that long, each call may leave its message for the next one.
   */
  private static final Duration SHORT = Duration.ofSeconds(1);

  /** A call leaves a handler after a second; the handler's time is over after ten. */
  private static final Duration LEAVES_SOON = Duration.ofSeconds(20);

  private final CountDownLatch end = new CountDownLatch(1);
  private final AtomicInteger runs = new AtomicInteger();
  private HandlerPublisher publisher;

  @AfterEach
  void close() {
    end.countDown();
    if (publisher != null) {
      publisher.close();
    }
  }

  private static HandlerPublisher.Builder builder(Duration timeout) {
    return HandlerPublisher.builder().timeout(timeout);
  }

  private Result resultOf(MessageHandler handler) throws Exception {
    return resultOf(builder(LONG).on("Placed", handler));
  }

  private Result resultOf(HandlerPublisher.Builder builder) throws Exception {
    close();
    publisher = builder.build();
    return publishOne(publisher, "Placed");
  }

  private static MessageHandler throwing(Throwable what) {
    return message -> sneak(what);
  }

  @SuppressWarnings("unchecked")
  private static <E extends Throwable> void sneak(Throwable what) throws E {
    throw (E) what;
  }

  // ---- results

  @Test
  @DisplayName("what a handler throws has failed, and says what and where")
  void fails() throws Exception {
    assertThat(resultOf(throwing(new IOException("no disk"))))
        .isInstanceOfSatisfying(
            Result.Failed.class,
            failed ->
                assertThat(failed.error())
                    .startsWith(
                        "the handler of the event type Placed threw java.io.IOException: no disk, at "
                            + getClass().getName()));
  }

  @Test
  @DisplayName("errors fail one message, whatever they are")
  void errors() throws Exception {
    assertThat(resultOf(message -> TestMessages.recurse(0))).isInstanceOf(Result.Failed.class);
    assertThat(resultOf(throwing(new OutOfMemoryError()))).isInstanceOf(Result.Failed.class);
    assertThat(resultOf(throwing(new ThreadDeath()))).isInstanceOf(Result.Failed.class);
    assertThat(resultOf(throwing(new InterruptedException()))).isInstanceOf(Result.Failed.class);
    RuntimeException unreadable =
        new IllegalStateException() {
          @Override
          public String getMessage() {
            throw new IllegalStateException("again");
          }
        };
    assertThat(resultOf(throwing(unreadable)))
        .isInstanceOfSatisfying(
            Result.Failed.class,
            failed -> assertThat(failed.error()).contains(unreadable.getClass().getName()));
  }

  @Test
  @DisplayName("what is never retried is rejected, its subclasses too")
  void never() throws Exception {
    HandlerPublisher.Builder builder = builder(LONG).neverRetryOn(IOException.class);
    assertThat(resultOf(builder.on("Placed", throwing(new FileNotFoundException()))))
        .isInstanceOf(Result.Rejected.class);
    assertThat(
            resultOf(
                builder(LONG)
                    .neverRetryOn(IOException.class)
                    .on("Placed", throwing(new IllegalStateException()))))
        .isInstanceOf(Result.Failed.class);
  }

  @Test
  @DisplayName("where only some are retried others are rejected, but errors are not")
  void only() throws Exception {
    assertThat(retryingOnlyIo(new FileNotFoundException())).isInstanceOf(Result.Failed.class);
    assertThat(retryingOnlyIo(new IllegalStateException())).isInstanceOf(Result.Rejected.class);
    assertThat(retryingOnlyIo(new StackOverflowError())).isInstanceOf(Result.Failed.class);
    assertThat(retryingOnlyIo(new UnavailableException("away")))
        .isInstanceOf(Result.Unavailable.class);
  }

  private Result retryingOnlyIo(Throwable thrown) throws Exception {
    return resultOf(builder(LONG).retryOn(IOException.class).on("Placed", throwing(thrown)));
  }

  // ---- which handler

  @Test
  @DisplayName("the event type chooses, then the aggregate type, then the rest")
  void chooses() throws Exception {
    List<String> seen = Collections.synchronizedList(new ArrayList<>());
    publisher =
        builder(LONG)
            .on("Placed", message -> seen.add("event"))
            .onAggregate("order", message -> seen.add("aggregate"))
            .onOthers(message -> seen.add("others"))
            .build();
    publishOne(publisher, "Placed");
    publishOne(publisher, "Paid");
    publisher.publish(
        List.of(
            StoredMessage.of(
                1,
                0,
                Instant.EPOCH,
                OutboxMessage.builder()
                    .aggregate("cart", "1")
                    .eventType("Emptied")
                    .payload("")
                    .build())));
    assertThat(seen).containsExactly("event", "aggregate", "others");
  }

  @Test
  @DisplayName("a message without a handler is rejected")
  void none() throws Exception {
    publisher = builder(LONG).on("Paid", message -> {}).build();
    assertThat(publishOne(publisher, "Placed"))
        .isEqualTo(
            Result.rejected(
                "there is no handler for the event type Placed: add one, or one for all others"));
  }

  @Test
  @DisplayName("what is set wrong is refused")
  void refuses() {
    assertThatThrownBy(() -> HandlerPublisher.builder().build())
        .hasMessage("there is no handler: add one with on(…)");
    assertThatThrownBy(() -> builder(LONG).on("Placed", m -> {}).on("Placed", m -> {}))
        .hasMessage("the event type Placed has two handlers: leave one out");
    assertThatThrownBy(() -> builder(LONG).onOthers(m -> {}).concurrency(0).build())
        .hasMessage("concurrency is 0, allowed is from 1 to 10000");
    assertThatThrownBy(() -> builder(Duration.ofMillis(999)).onOthers(m -> {}).build())
        .hasMessageStartingWith("timeout is 999ms, allowed is from 1s");
  }

  // ---- order and threads

  @Test
  @DisplayName("a key has one run at a time, in order; keys go side by side, as many as allowed")
  void oneAtATime() throws Exception {
    Set<String> running = ConcurrentHashMap.newKeySet();
    List<Long> order = Collections.synchronizedList(new ArrayList<>());
    AtomicInteger most = new AtomicInteger();
    CountDownLatch three = new CountDownLatch(3);
    publisher =
        builder(LONG)
            .concurrency(3)
            .onOthers(
                message -> {
                  assertThat(running.add(message.key())).as("alone in its key").isTrue();
                  most.accumulateAndGet(running.size(), Math::max);
                  three.countDown();
                  three.await();
                  order.add(message.sequence());
                  running.remove(message.key());
                })
            .build();
    List<StoredMessage> messages =
        IntStream.range(0, 200).mapToObj(i -> stored("Placed", "k" + i % 10)).toList();
    assertThat(publisher.publish(messages)).hasSize(200).containsOnly(Result.delivered());
    assertThat(most).hasValue(3);
    for (int key = 0; key < 10; key++) {
      String name = "order/k" + key;
      List<Long> ofKey =
          messages.stream()
              .filter(message -> message.key().equals(name))
              .map(StoredMessage::sequence)
              .toList();
      assertThat(order.stream().filter(ofKey::contains)).isEqualTo(ofKey);
    }
  }

  @Test
  @DisplayName("handlers run in the threads that are given")
  void threads() throws Exception {
    List<Thread> made = Collections.synchronizedList(new ArrayList<>());
    List<Thread> used = new ArrayList<>();
    publisher =
        builder(LONG)
            .onOthers(message -> used.add(Thread.currentThread()))
            .threads(
                task -> {
                  Thread thread = new Thread(task);
                  made.add(thread);
                  return thread;
                })
            .build();
    publishOne(publisher, "Placed");
    assertThat(used).isEqualTo(made).hasSize(1);
  }

  @Test
  @DisplayName("where no thread can be made the message waits")
  void noThread() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    publisher =
        builder(LONG)
            .onOthers(message -> runs.incrementAndGet())
            .threads(
                task -> {
                  if (asked.incrementAndGet() == 1) {
                    throw new OutOfMemoryError("unable to create native thread");
                  }
                  return new Thread(task);
                })
            .build();
    StoredMessage message = stored("Placed", "k");
    assertThat(publisher.publish(List.of(message)).get(0)).isInstanceOf(Result.Unavailable.class);
    assertThat(publisher.publish(List.of(message))).containsExactly(Result.delivered());
  }

  // ---- time

  @ParameterizedTest(name = "away: {0}")
  @ValueSource(booleans = {false, true})
  @DisplayName("a handler that takes long is not called again, and what it says comes later")
  void slow(boolean away) throws Exception {
    publisher =
        builder(LEAVES_SOON)
            .on(
                "Placed",
                message -> {
                  runs.incrementAndGet();
                  end.await();
                  if (away) {
                    throw new UnavailableException("no mail server");
                  }
                })
            .build();
    List<StoredMessage> message = List.of(stored("Placed", "k"));
    for (int i = 0; i < 2; i++) {
      assertThat(publisher.publish(message).get(0)).matches(HandlerPublisherTest::isOpen);
    }
    end.countDown();
    List<Result> results = new ArrayList<>();
    await()
        .until(
            () -> {
              results.add(0, publisher.publish(message).get(0));
              return !isOpen(results.get(0));
            });
    if (away) {
      assertThat(((Result.Unavailable) results.get(0)).error()).contains("no mail server");
    } else {
      assertThat(results.get(0)).isEqualTo(Result.delivered());
    }
    assertThat(runs).hasValue(1);
  }

  /** Whether it is still being handled. */
  private static boolean isOpen(Result result) {
    return result instanceof Result.Unavailable unavailable && unavailable.again() != null;
  }

  @Test
  @DisplayName("a handler whose time is over is interrupted, and its message has failed")
  void timeout() throws Exception {
    AtomicInteger interrupted = new AtomicInteger();
    publisher =
        builder(SHORT)
            .on(
                "Placed",
                message -> {
                  try {
                    end.await();
                  } catch (InterruptedException e) {
                    interrupted.incrementAndGet(); // and returns, as if it had handled
                  }
                })
            .build();
    assertThat(resultInTheEnd(stored("Placed", "k")))
        .isEqualTo(
            Result.failed(
                "the handler of the event type Placed did not return within 500ms and was interrupted"));
    await().until(() -> interrupted.get() == 1);
  }

  /** What a relay learns that hands it over until there is an answer. */
  private Result resultInTheEnd(StoredMessage message) {
    List<Result> results = new ArrayList<>();
    await()
        .until(
            () -> {
              results.add(0, publisher.publish(List.of(message)).get(0));
              return !(results.get(0) instanceof Result.Unavailable);
            });
    return results.get(0);
  }

  @Test
  @DisplayName("a thread that was interrupted for one message is not for the next one")
  void interruptEnds() throws Exception {
    publisher =
        builder(LONG)
            .concurrency(1)
            .on("Interrupts", message -> Thread.currentThread().interrupt())
            .onOthers(message -> assertThat(Thread.currentThread().isInterrupted()).isFalse())
            .build();
    publishOne(publisher, "Interrupts");
    publishOne(publisher, "Interrupts");
    assertThat(publishOne(publisher, "Placed")).isEqualTo(Result.delivered());
  }

  @Test
  @DisplayName("a handler that heeds no interrupt holds its key until it returns, and no other key")
  void deaf() throws Exception {
    publisher =
        builder(SHORT)
            .on(
                "Placed",
                message -> {
                  if (message.message().aggregateId().equals("deaf")
                      && runs.incrementAndGet() == 1) {
                    TestMessages.waitDeaf(end);
                  }
                })
            .build();
    StoredMessage deaf = stored("Placed", "deaf");
    assertThat(resultInTheEnd(deaf)).isInstanceOf(Result.Failed.class);
    for (StoredMessage one : List.of(deaf, stored("Placed", "deaf"))) {
      assertThat(publisher.publish(List.of(one)).get(0))
          .isInstanceOfSatisfying(
              Result.Unavailable.class,
              held ->
                  assertThat(held.error())
                      .isEqualTo(
                          "the handler of the event type Placed has not returned from message %d, which has the same key"
                              .formatted(deaf.sequence())));
    }
    assertThat(resultInTheEnd(stored("Placed", "other"))).isEqualTo(Result.delivered());
    assertThat(runs).hasValue(1);
    end.countDown();
    assertThat(resultInTheEnd(deaf)).isEqualTo(Result.delivered());
    assertThat(runs).hasValue(2);
  }

  @Test
  @DisplayName("when all threads of a handler are in use its messages wait, and none is lost")
  void full() throws Exception {
    publisher =
        builder(LEAVES_SOON)
            .concurrency(2)
            .on("Deaf", message -> TestMessages.waitDeaf(end))
            .onOthers(message -> {})
            .build();
    List<StoredMessage> deaf =
        IntStream.range(0, 5).mapToObj(i -> stored("Deaf", "k" + i)).toList();
    List<Result> results = publisher.publish(deaf);
    assertThat(results).hasOnlyElementsOfType(Result.Unavailable.class);
    assertThat(results.get(4))
        .isInstanceOfSatisfying(
            Result.Unavailable.class,
            full -> {
              assertThat(full.error())
                  .isEqualTo("the handler of the event type Deaf: all of its 2 threads are in use");
              assertThat(full.destination()).isEqualTo("the handler of the event type Deaf");
            });
    assertThat(publishOne(publisher, "Placed")).isEqualTo(Result.delivered());
    end.countDown();
    assertThat(resultInTheEnd(deaf.get(4))).isEqualTo(Result.delivered());
  }

  @Test
  @DisplayName("a handler that is slow and busy is no destination in trouble")
  void busy() throws Exception {
    publisher =
        builder(LEAVES_SOON).concurrency(1).onOthers(message -> TestMessages.waitDeaf(end)).build();
    assertThat(publisher.publish(List.of(stored("Placed", "a"), stored("Placed", "b"))))
        .allMatch(HandlerPublisherTest::isOpen);
    end.countDown();
  }

  @Test
  @DisplayName("a handler of which many wait is waited for while it gets on")
  void getsOn() throws Exception {
    publisher =
        builder(Duration.ofSeconds(60))
            .concurrency(1)
            .onOthers(
                message -> {
                  long until = System.nanoTime() + 2_000_000;
                  while (until - System.nanoTime() > 0) {
                    Thread.onSpinWait();
                  }
                })
            .build();
    assertThat(
            publisher.publish(
                IntStream.range(0, 300).mapToObj(i -> stored("Placed", "k" + i)).toList()))
        .containsOnly(Result.delivered());
  }

  // ---- the end

  @Test
  @DisplayName("when the call is interrupted its handlers are, and none begins")
  void interrupted() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch heard = new CountDownLatch(1);
    publisher =
        builder(LONG)
            .concurrency(1)
            .onOthers(
                message -> {
                  runs.incrementAndGet();
                  begun.countDown();
                  try {
                    end.await();
                  } catch (InterruptedException e) {
                    heard.countDown();
                  }
                })
            .build();
    List<StoredMessage> messages = List.of(stored("Placed", "a"), stored("Placed", "b"));
    FutureTask<List<Result>> call = new FutureTask<>(() -> publisher.publish(messages));
    Thread caller = new Thread(call);
    caller.start();
    begun.await();
    caller.interrupt();
    assertThatThrownBy(call::get).hasCauseInstanceOf(InterruptedException.class);
    heard.await();
    end.countDown();
    List<StoredMessage> left = new ArrayList<>(messages);
    await()
        .until(
            () -> {
              List<Result> results = publisher.publish(List.copyOf(left));
              for (int i = results.size() - 1; i >= 0; i--) {
                if (results.get(i).equals(Result.delivered())) {
                  left.remove(i);
                }
              }
              return left.isEmpty();
            });
    assertThat(runs).hasValue(3);
  }

  @Test
  @DisplayName("an interrupted call lets go on what it has left before")
  void interruptedAfterLeaving() throws Exception {
    Timing timing = Timing.of(LONG);
    Failures failures = new Failures(Set.of(), Set.of());
    HandlerThreads slow =
        new HandlerThreads("slow", message -> end.await(), failures, timing, 1, Thread::new);
    slow.left();
    HandlerThreads waiting =
        new HandlerThreads(
            "waiting", m -> new CountDownLatch(1).await(), failures, timing, 1, Thread::new);
    Call.Parts parts =
        new Call.Parts(
            new Routes(Map.of("Slow", slow, "Waiting", waiting), Map.of(), null), timing);
    StoredMessage left = stored("Slow", "a");
    FutureTask<List<Result>> call =
        new FutureTask<>(() -> new Call(parts, List.of(left, stored("Waiting", "b"))).run());
    Thread caller = new Thread(call);
    caller.start();
    await().until(() -> parts.unanswered().of(left) != null);
    caller.interrupt();
    assertThatThrownBy(call::get).hasCauseInstanceOf(InterruptedException.class);
    end.countDown();
    List<Result> known = new ArrayList<>();
    await()
        .until(
            () -> {
              known.add(0, parts.unanswered().of(left));
              return !(known.get(0) instanceof Result.Unavailable u && u.again() != null);
            });
    assertThat(known.get(0)).isEqualTo(Result.delivered());
  }

  @Test
  @DisplayName("closing interrupts handlers and returns, also when one does not heed it")
  void closes() throws Exception {
    CountDownLatch heard = new CountDownLatch(1);
    CountDownLatch deaf = new CountDownLatch(1);
    publisher =
        builder(LEAVES_SOON)
            .on(
                "Hangs",
                message -> {
                  try {
                    end.await();
                  } catch (InterruptedException e) {
                    heard.countDown();
                  }
                })
            .on(
                "Deaf",
                message -> {
                  deaf.countDown();
                  TestMessages.waitDeaf(end);
                })
            .build();
    List<StoredMessage> messages = List.of(stored("Hangs", "a"), stored("Deaf", "b"));
    assertThat(publisher.publish(messages)).hasOnlyElementsOfType(Result.Unavailable.class);
    deaf.await();
    publisher.close();
    heard.await();
    assertThat(publisher.publish(messages))
        .containsOnly(Result.unavailable("the publisher is closed"));
  }
}
