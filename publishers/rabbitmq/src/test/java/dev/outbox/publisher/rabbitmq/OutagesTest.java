package dev.outbox.publisher.rabbitmq;

import static dev.outbox.embedded.TestMessages.destination;
import static dev.outbox.embedded.TestMessages.error;
import static dev.outbox.embedded.TestMessages.message;
import static dev.outbox.embedded.TestMessages.publishUntilDelivered;
import static dev.outbox.embedded.TestMessages.stored;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.embedded.EmbeddedRabbit;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a broker does that takes nothing, or lets nobody in; beside what the TCK does to it. */
class OutagesTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(12);

  private EmbeddedRabbit rabbit;
  private String exchange;
  private RabbitPublisher publisher;

  @BeforeEach
  void start() {
    rabbit = TestRabbit.embedded();
    exchange = TestRabbit.exchange();
    publisher = TestRabbit.publisher().timeout(TIMEOUT).build();
  }

  @AfterEach
  void stop() {
    if (publisher != null) { // skipped where the broker is not the embedded one
      publisher.close();
    }
  }

  private List<StoredMessage> many(int count, int bytes) {
    return IntStream.range(0, count)
        .mapToObj(i -> stored(message(exchange, "k" + i).payload(new byte[bytes])))
        .toList();
  }

  private static void assertWholeBroker(List<Result> results, String why) {
    for (Result result : results) {
      assertThat(destination(result)).isNull();
    }
    assertThat(error(results.get(0))).contains(why);
  }

  /** As a broker short of memory does: it reads no connection that publishes. */
  private void alarm(boolean on) {
    String unused = rabbit.control("set_vm_memory_high_watermark", on ? "0.0000001" : "0.4");
  }

  @Test
  @DisplayName("short of memory, all is unavailable at once, and later nothing is lost or doubled")
  void memoryAlarm() throws Exception {
    publishUntilDelivered(publisher, many(1, 10));
    alarm(true);
    List<StoredMessage> messages = many(20, 10);
    try {
      List<Result> first = publisher.publish(messages);
      assertWholeBroker(first, "takes no messages now: low on memory");
      long start = System.nanoTime();
      for (int i = 0; i < 5; i++) {
        assertWholeBroker(publisher.publish(messages), "takes no messages now: low on memory");
      }
      assertThat(System.nanoTime() - start).as("five calls").isLessThan(TIMEOUT.toNanos());
      assertThat(publisher.unreachable(Duration.ofSeconds(30)).orElseThrow())
          .contains("low on memory")
          .contains(publisher.address());
    } finally {
      alarm(false);
    }
    publishUntilDelivered(publisher, messages);
    assertThat(TestRabbit.firstArrivals(exchange)).hasSize(20);
    assertThat(TestRabbit.sequences(exchange)).as("one more each at most").hasSizeLessThan(42);
  }

  @Test
  @DisplayName("a publisher that starts while memory is short sends one message, not a batch")
  void startsDuringAlarm() throws Exception {
    alarm(true);
    List<StoredMessage> messages = many(20, 10);
    try {
      assertWholeBroker(publisher.publish(messages), "low on memory");
      assertWholeBroker(publisher.publish(messages), "low on memory");
    } finally {
      alarm(false);
    }
    publishUntilDelivered(publisher, messages);
    assertThat(TestRabbit.sequences(exchange)).hasSizeLessThanOrEqualTo(21);
  }

  @Test
  @DisplayName("a connection that is closed in the middle of a call is unavailable, and made anew")
  void closedInTheMiddle() throws Exception {
    List<StoredMessage> open = new ArrayList<>();
    CompletableFuture<String> closing =
        CompletableFuture.supplyAsync(() -> rabbit.control("close_all_connections", "for a test"));
    List<Result> seen = new ArrayList<>();
    while (!closing.isDone() || seen.isEmpty()) {
      List<StoredMessage> messages = many(10, 10);
      List<Result> results = publisher.publish(messages);
      for (int i = 0; i < results.size(); i++) {
        if (!(results.get(i) instanceof Result.Delivered)) {
          seen.add(results.get(i));
          open.add(messages.get(i));
        }
      }
      assertThat(closing.isCompletedExceptionally()).isFalse();
      if (closing.isDone() && seen.isEmpty()) {
        break; // it was closed between two calls
      }
    }
    for (Result result : seen) {
      assertThat(destination(result)).isNull();
      assertThat(error(result)).contains("was closed").contains("for a test");
    }
    publishUntilDelivered(publisher, open);
  }

  @Test
  @DisplayName(
      "a wrong password is unavailable as a whole, and said without it; it may become right")
  void wrongPassword() throws Exception {
    String user = TestRabbit.name();
    String password = "secret-7-" + user;
    try (RabbitPublisher late =
        RabbitPublisher.builder().uri(TestRabbit.uri(user, password)).timeout(TIMEOUT).build()) {
      List<Result> results = late.publish(many(3, 10));
      assertWholeBroker(results, "does not let us in");
      assertThat(error(results.get(0))).contains(late.address()).doesNotContain(password);
      assertThat(late.unreachable(Duration.ofSeconds(30)).orElseThrow())
          .contains("does not let us in")
          .doesNotContain(password);

      addUser(user, password, ".*");
      publishUntilDelivered(late, many(3, 10));
      assertThat(late.unreachable(Duration.ofSeconds(30))).isEmpty();
    }
  }

  @Test
  @DisplayName(
      "an exchange that we may not write to is unavailable; others go on, nothing is doubled")
  void noPermission() throws Exception {
    String user = TestRabbit.name();
    String forbidden = TestRabbit.exchange();
    addUser(user, "p", exchange);
    try (RabbitPublisher restricted =
        RabbitPublisher.builder().uri(TestRabbit.uri(user, "p")).timeout(TIMEOUT).build()) {
      List<StoredMessage> messages = new ArrayList<>(many(10, 10));
      messages.add(5, stored(message(forbidden, "f").eventType("a")));
      messages.add(8, stored(message(forbidden, "g").eventType("b")));
      List<Result> results = restricted.publish(messages);
      for (int i = 0; i < results.size(); i++) {
        if (i == 5 || i == 8) {
          assertThat(destination(results.get(i))).isEqualTo(forbidden);
          assertThat(error(results.get(i))).contains("ACCESS_REFUSED");
        } else {
          assertThat(results.get(i)).isEqualTo(Result.delivered());
        }
      }
      String later = TestRabbit.exchange();
      String unused = rabbit.control("set_permissions", user, "", exchange + "|" + later, "");
      List<StoredMessage> more = new ArrayList<>();
      more.add(messages.get(5));
      IntStream.range(0, 10).forEach(i -> more.add(stored(message(later, "k" + i).eventType("c"))));
      List<Result> again = restricted.publish(more);
      assertThat(destination(again.get(0))).isEqualTo(forbidden);
      assertThat(again.subList(1, 11)).containsOnly(Result.delivered());
      assertThat(TestRabbit.sequences(later)).as("nothing is doubled").hasSize(10);

      unused = rabbit.control("set_permissions", user, "", ".*", "");
      publishUntilDelivered(restricted, List.of(messages.get(5), messages.get(8)));
    }
    assertThat(TestRabbit.firstArrivals(forbidden)).hasSize(2);
  }

  private void addUser(String user, String password, String write) {
    String unused = rabbit.control("add_user", user, password);
    unused = rabbit.control("set_permissions", user, "", write, "");
  }

  @Test
  @DisplayName("nobody listens: unavailable as a whole, with the address; so is a name without one")
  void unreachable() throws Exception {
    for (String host : List.of("127.0.0.1:1", "no-such-host.invalid:5672")) {
      try (RabbitPublisher nowhere =
          RabbitPublisher.builder().uri("amqp://user:secret-7@" + host).timeout(TIMEOUT).build()) {
        List<Result> results = nowhere.publish(many(2, 10));
        assertWholeBroker(results, "RabbitMQ at amqp://" + host + " cannot be reached");
        assertThat(error(results.get(0))).doesNotContain("secret-7");
      }
    }
  }

  @Test
  @DisplayName("who listens and says nothing does not answer")
  void silent() throws Exception {
    try (ServerSocket mute = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        RabbitPublisher waiting =
            RabbitPublisher.builder()
                .uri("amqp://localhost:" + mute.getLocalPort())
                .timeout(TIMEOUT)
                .build()) {
      String sentence = "RabbitMQ at %s does not answer".formatted(waiting.address());
      assertThat(waiting.unreachable(Duration.ofSeconds(30))).contains(sentence);
    }
  }

  @Test
  @DisplayName("of several addresses the first that answers is taken")
  void addresses() throws Exception {
    try (RabbitPublisher any =
        TestRabbit.publisher()
            .timeout(TIMEOUT)
            .addresses("127.0.0.1:1,127.0.0.1:" + rabbit.port())
            .build()) {
      assertThat(any.publish(many(3, 10))).containsOnly(Result.delivered());
      assertThat(any.address()).isEqualTo("amqp://127.0.0.1:1,127.0.0.1:" + rabbit.port());
    }
  }
}
