package dev.outbox.relay;

import static dev.outbox.relay.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.relay.RoutingPublisher.Unopened;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.StoredMessage;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RoutingPublisherTest {
  private static final String ORDER = "order";
  private static final String INVOICE = "invoice";
  private static final Result DOWN = Result.unavailable("connection refused");

  private final FakePublisher kafka = new FakePublisher();
  private final FakePublisher http = new FakePublisher();

  private static RoutingPublisher.Builder builder(MessagePublisher kafka, MessagePublisher http) {
    return RoutingPublisher.builder("kafka", kafka).publisher("http", http, INVOICE);
  }

  private MessagePublisher routing() {
    return builder(kafka, http).build();
  }

  private static StoredMessage message(long sequence, String type, String key) {
    return StoredMessage.of(
        sequence,
        0,
        Instant.EPOCH,
        Samples.builder(key, "event" + sequence).aggregateType(type).build());
  }

  private static Result delivered() {
    return Result.delivered();
  }

  /** Waits for ever, and heeds no interrupt. */
  private static Result hang() {
    while (true) {
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException e) {
        // on
      }
    }
  }

  @Test
  @DisplayName("each type goes to its publisher, the others to the first, in one call of each")
  void routes() throws Exception {
    List<Result> results =
        routing()
            .publish(
                List.of(
                    message(1, ORDER, "a"), message(2, INVOICE, "b"), message(3, "other", "c")));
    assertThat(results).containsExactly(delivered(), delivered(), delivered());
    assertThat(kafka.calls).containsExactly(List.of(1L, 3L));
    assertThat(http.calls).containsExactly(List.of(2L));
  }

  @Test
  @DisplayName("publishers are called side by side")
  void sideBySide() throws Exception {
    CountDownLatch both = new CountDownLatch(2);
    FakePublisher.Behaviour meets = FakePublisher.waiting(both, both);
    kafka.whole = meets;
    http.whole = meets;
    MessagePublisher routing = builder(kafka, http).timeout(Duration.ofMinutes(2)).build();
    assertThat(routing.publish(List.of(message(1, ORDER, "a"), message(2, INVOICE, "b"))))
        .containsExactly(delivered(), delivered());
  }

  @Test
  @DisplayName("what one publisher throws fails the culprit, and no message of another one")
  void exception() throws Exception {
    http.on("event3", FakePublisher.throwing(new IllegalStateException("it cannot be encoded")));
    List<Result> results =
        routing()
            .publish(
                List.of(
                    message(1, ORDER, "a"),
                    message(2, INVOICE, "b"),
                    message(3, INVOICE, "c"),
                    message(4, INVOICE, "d")));
    assertThat(results.get(0)).isEqualTo(delivered());
    assertThat(results.get(1)).isEqualTo(delivered());
    assertThat(((Result.Failed) results.get(2)).error()).contains("it cannot be encoded");
    assertThat(results.get(3)).isEqualTo(delivered());
    assertThat(kafka.calls).containsExactly(List.of(1L));
  }

  @Test
  @DisplayName("a broker that is away is named while another answers, and not when none does (P3)")
  void names() throws Exception {
    MessagePublisher routing = routing();
    http.whole = () -> DOWN;
    assertThat(routing.publish(List.of(message(1, INVOICE, "b"))))
        .as("of the others nothing is known")
        .containsExactly(DOWN);
    assertThat(routing.publish(List.of(message(2, ORDER, "a"), message(1, INVOICE, "b"))))
        .containsExactly(delivered(), Result.unavailable("connection refused", "http"));
    kafka.whole = () -> DOWN;
    assertThat(routing.publish(List.of(message(3, ORDER, "a"), message(1, INVOICE, "b"))))
        .containsExactly(DOWN, DOWN);
    kafka.whole = () -> Result.unavailable("no such topic", "orders");
    assertThat(routing.publish(List.of(message(3, ORDER, "a"))))
        .containsExactly(Result.unavailable("no such topic", "kafka: orders"));
  }

  private static boolean isOpen(Result result) {
    return result instanceof Result.Unavailable u && u.again() != null;
  }

  /** Says when it is called, and when it is interrupted, for which it waits. */
  private static FakePublisher.Behaviour waiting(
      CountDownLatch called, CountDownLatch interrupted) {
    return () -> {
      called.countDown();
      try {
        new CountDownLatch(1).await();
      } finally {
        interrupted.countDown();
      }
      return delivered();
    };
  }

  @Test
  @DisplayName("one that hangs keeps no other's result, and is given up at the time limit (P3, P5)")
  void hangs() throws Exception {
    CountDownLatch interrupted = new CountDownLatch(1);
    http.whole = waiting(new CountDownLatch(1), interrupted);
    MessagePublisher routing = builder(kafka, http).timeout(Duration.ofSeconds(2)).build();
    List<Result> results =
        routing.publish(
            List.of(message(1, ORDER, "a"), message(2, INVOICE, "b"), message(3, INVOICE, "c")));
    assertThat(interrupted.getCount()).as("the call goes on").isOne();
    assertThat(results.get(0)).isEqualTo(delivered());
    assertThat(results.subList(1, 3)).allMatch(RoutingPublisherTest::isOpen);
    assertThat(interrupted.await(1, TimeUnit.MINUTES)).isTrue();
    await()
        .untilAsserted(
            () ->
                assertThat(routing.publish(List.of(message(2, INVOICE, "b"))))
                    .as("it is not called again at once, for others are in the same calls")
                    .containsExactly(Result.unavailable("http did not return in time", "http")));
    assertThat(http.calls).hasSize(1);
  }

  @Test
  @DisplayName("what one answers late is its message's result, which was not sent again (P3)")
  void late() throws Exception {
    CountDownLatch answer = new CountDownLatch(1);
    http.whole = FakePublisher.waiting(new CountDownLatch(1), answer);
    MessagePublisher routing = builder(kafka, http).timeout(Duration.ofSeconds(60)).build();
    List<StoredMessage> messages =
        List.of(message(1, INVOICE, "a"), message(2, INVOICE, "a"), message(3, ORDER, "a"));
    for (int i = 0; i < 2; i++) {
      List<Result> results = routing.publish(messages);
      assertThat(results.get(0)).matches(RoutingPublisherTest::isOpen);
      assertThat(results).doesNotContain(delivered());
    }
    assertThat(kafka.calls).as("behind one that is not answered (P2)").isEmpty();
    answer.countDown();
    await().until(() -> routing.publish(messages.subList(0, 1)).contains(delivered()));
    assertThat(routing.publish(messages.subList(1, 3))).containsExactly(delivered(), delivered());
    assertThat(http.calls).containsExactly(List.of(1L, 2L));
  }

  /** Publishes a message, whose call goes on. */
  private static WeakReference<StoredMessage> leave(MessagePublisher routing)
      throws InterruptedException {
    StoredMessage message = message(1, INVOICE, "a");
    assertThat(routing.publish(List.of(message)).get(0)).matches(RoutingPublisherTest::isOpen);
    return new WeakReference<>(message);
  }

  @Test
  @DisplayName("what went on after its call is not held in memory once it has ended")
  void forgets() throws Exception {
    CountDownLatch answer = new CountDownLatch(1);
    MessagePublisher slow =
        messages -> {
          answer.await();
          return List.of(delivered());
        };
    MessagePublisher routing = builder(kafka, slow).timeout(Duration.ofMinutes(1)).build();
    WeakReference<StoredMessage> held = leave(routing);
    answer.countDown();
    await()
        .atMost(Duration.ofSeconds(40)) // less than what is left of the minute
        .until(
            () -> {
              System.gc();
              return held.get() == null;
            });
  }

  @Test
  @DisplayName("calls that never return are limited in number")
  void mostHanging() throws Exception {
    http.whole = RoutingPublisherTest::hang;
    MessagePublisher routing = builder(kafka, http).timeout(Duration.ofMillis(10)).build();
    Result refused =
        Result.unavailable("10 calls of http have not returned; none is begun until one does");
    Result last = delivered();
    for (long i = 1; !last.equals(refused); i++) { // one may be given up before it has begun
      assertThat(i).isLessThan(10_000);
      last = routing.publish(List.of(message(i, INVOICE, "b" + i))).get(0);
    }
    await().untilAsserted(() -> assertThat(http.calls).hasSize(10)); // one may just begin
  }

  @Test
  @DisplayName("an interrupt reaches the publishers")
  void interrupt() throws Exception {
    CountDownLatch called = new CountDownLatch(2);
    CountDownLatch interrupted = new CountDownLatch(2);
    kafka.whole = waiting(called, interrupted);
    http.whole = waiting(called, interrupted);
    MessagePublisher routing = builder(kafka, http).timeout(Duration.ofMinutes(10)).build();
    FutureTask<List<Result>> call =
        new FutureTask<>(
            () -> routing.publish(List.of(message(1, ORDER, "a"), message(2, INVOICE, "b"))));
    Thread thread = new Thread(call);
    thread.start();
    assertThat(called.await(1, TimeUnit.MINUTES)).isTrue();
    thread.interrupt();
    assertThatThrownBy(() -> call.get(1, TimeUnit.MINUTES))
        .hasCauseInstanceOf(InterruptedException.class);
    assertThat(interrupted.await(1, TimeUnit.MINUTES)).isTrue();
  }

  /** Can be asked, and closed. */
  private record Asked(Optional<String> trouble, Runnable closing) implements MessagePublisher {
    @Override
    public List<Result> publish(List<StoredMessage> messages) {
      return Collections.nCopies(messages.size(), delivered());
    }

    @Override
    public String address() {
      return "host:1";
    }

    @Override
    public Optional<String> unreachable(Duration patience) {
      return trouble;
    }

    @Override
    public void close() {
      closing.run();
    }
  }

  @Test
  @DisplayName("those that can be asked for their brokers are asked (P6)")
  void asks() throws Exception {
    assertThat(routing().address()).isNull();
    Asked down = new Asked(Optional.of("it is away"), () -> {});
    Asked up = new Asked(Optional.empty(), () -> {});
    MessagePublisher one = builder(kafka, down).build();
    assertThat(one.address()).isEqualTo("http host:1");
    assertThat(one.unreachable(Duration.ofMinutes(1))).contains("http: it is away");
    MessagePublisher both = builder(up, up).build();
    assertThat(both.address()).isEqualTo("kafka host:1, http host:1");
    assertThat(both.unreachable(Duration.ofMinutes(1))).isEmpty();
  }

  private interface Looks {
    List<Finding> look() throws Exception;
  }

  private static MessagePublisher finds(Looks looks) {
    return new MessagePublisher() {
      @Override
      public List<Result> publish(List<StoredMessage> messages) {
        return List.of();
      }

      @Override
      public List<Finding> findings(List<StoredMessage> waiting, Duration patience) {
        try {
          return looks.look();
        } catch (Exception e) {
          throw new IllegalStateException(e.getMessage());
        }
      }
    };
  }

  @Test
  @DisplayName("findings are asked for side by side, and are not lost when one publisher throws")
  void findings() throws Exception {
    CyclicBarrier both = new CyclicBarrier(2);
    Finding fine = Finding.fine("topic", "fine");
    Looks meets =
        () -> {
          int ignored = both.await(1, TimeUnit.MINUTES);
          return List.of(fine);
        };
    MessagePublisher routing =
        builder(finds(meets), finds(meets))
            .publisher(
                "nats",
                finds(
                    () -> {
                      throw new IllegalStateException("no such stream");
                    }),
                "bill")
            .build();
    assertThat(routing.findings(List.of(), Duration.ofMinutes(2)))
        .containsExactly(
            fine,
            fine,
            Finding.warning(
                "publisher", "nats threw java.lang.IllegalStateException: no such stream", null));
  }

  @Test
  @DisplayName("a publisher that is late with its findings is named in their place")
  void lateFindings() throws Exception {
    MessagePublisher late =
        finds(
            () -> {
              new CountDownLatch(1).await();
              return List.of();
            });
    assertThat(builder(kafka, late).build().findings(List.of(), Duration.ofMillis(10)))
        .contains(
            Finding.warning(
                "publisher", "http did not say in time how its destinations are", null));
  }

  private static MessagePublisher closesBadly(Runnable closing) {
    return new Asked(
        Optional.empty(),
        () -> {
          closing.run();
          throw new IllegalStateException("broken pipe");
        });
  }

  @Test
  @DisplayName("closes all, also when one of them throws, and says which did")
  void closes() {
    CountDownLatch closed = new CountDownLatch(2);
    Asked good = new Asked(Optional.empty(), closed::countDown);
    MessagePublisher routing = builder(closesBadly(closed::countDown), good).build();
    assertThatThrownBy(routing::close)
        .hasMessage(
            "publishers were not closed: kafka: threw java.lang.IllegalStateException: broken pipe");
    assertThat(closed.getCount()).isZero();
  }

  @Test
  @DisplayName("closes all, also in a thread that was interrupted, and leaves it so")
  void closesThoughInterrupted() {
    CountDownLatch closing = new CountDownLatch(2);
    CountDownLatch closed = new CountDownLatch(2);
    Asked slow =
        new Asked(
            Optional.empty(),
            () -> {
              closing.countDown();
              try {
                closing.await();
                closed.countDown();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    MessagePublisher routing = builder(slow, slow).build();
    Thread.currentThread().interrupt();
    routing.close();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(closed.getCount()).isZero();
  }

  @Test
  @DisplayName(
      "when one cannot be opened, those that were are closed, and the first error is thrown")
  void opensAllOrNone() {
    AtomicInteger closed = new AtomicInteger();
    MessagePublisher bad = closesBadly(closed::incrementAndGet);
    for (Throwable error : List.of(new IllegalArgumentException("no URL"), new LinkageError())) {
      closed.set(0);
      assertThatThrownBy(
              () ->
                  RoutingPublisher.open(
                      List.of(
                          new Unopened("kafka", List.of(), timeout -> bad),
                          new Unopened("nats", List.of(ORDER), timeout -> bad),
                          new Unopened("http", List.of(INVOICE), timeout -> failing(error))),
                      Duration.ofMinutes(1)))
          .isSameAs(error)
          .satisfies(thrown -> assertThat(thrown.getSuppressed()).hasSize(2));
      assertThat(closed).hasValue(2);
    }
  }

  private static MessagePublisher failing(Throwable error) {
    if (error instanceof Error serious) {
      throw serious;
    }
    throw (RuntimeException) error;
  }

  @Test
  @DisplayName("exactly one takes the rest, or none is opened")
  void oneTakesTheRest() {
    Function<Duration, MessagePublisher> never =
        timeout -> {
          throw new AssertionError("opened");
        };
    Unopened first = new Unopened("kafka", List.of(), never);
    Unopened second = new Unopened("nats", List.of(), never);
    Unopened typed = new Unopened("http", List.of(INVOICE), never);
    assertThatThrownBy(
            () -> RoutingPublisher.open(List.of(first, typed, second), Duration.ofMinutes(1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "the publishers kafka, nats have no types: only one may take what no other one does, so give the others types");
    assertThatThrownBy(() -> RoutingPublisher.open(List.of(typed), Duration.ofMinutes(1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "each publisher has types: one must take what no other one does, so leave out its types");
  }

  @Test
  @DisplayName("refuses what cannot be meant")
  void refuses() {
    RoutingPublisher.Builder builder = builder(kafka, http);
    assertThatThrownBy(() -> builder.publisher("http", http, "bill"))
        .hasMessage("two publishers are called http: give one of them another name");
    assertThatThrownBy(() -> builder.publisher("nats", http, INVOICE))
        .hasMessage("the aggregate type invoice has two publishers, http and nats: give it one");
    assertThatThrownBy(() -> builder.publisher("mqtt", http))
        .hasMessage("the publisher mqtt has no aggregate type: name those that it takes");
    for (Duration timeout : List.of(Duration.ZERO, Duration.ofDays(200_000))) {
      assertThatThrownBy(() -> builder.timeout(timeout))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageEndingWith("allowed is from 1ms to 1d");
    }
  }
}
