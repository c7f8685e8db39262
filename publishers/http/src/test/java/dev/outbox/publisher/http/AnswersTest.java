package dev.outbox.publisher.http;

import static dev.outbox.embedded.TestMessages.error;
import static dev.outbox.embedded.TestMessages.stored;
import static dev.outbox.publisher.http.TestMessages.batch;
import static dev.outbox.publisher.http.TestMessages.message;
import static dev.outbox.publisher.http.TestMessages.publishOne;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.http.Receiver.Reply;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What comes of an endpoint's answers (P3), and how it is left alone. */
class AnswersTest {
  private static final Receiver receiver = Receiver.start();

  @AfterAll
  static void close() {
    receiver.close();
  }

  @BeforeEach
  void clear() {
    receiver.requests.clear();
    receiver.answer = request -> Reply.of(204);
  }

  private static HttpPublisher publisher() {
    return TestMessages.publisher(receiver.url("/events")).build();
  }

  /** Messages of aggregate type order go to the receiver, others to another host. */
  private static HttpPublisher.Builder both(String other) {
    return TestMessages.publisher(receiver.url("/events"))
        .destination(Destination.pattern(receiver.url("/{aggregateType}")).forType("other", other));
  }

  private static HttpPublisher toTwo(String other) {
    return both(other).build();
  }

  @ParameterizedTest
  @CsvSource({
    "Delivered, 200 201 202 299",
    "Rejected, 400 413 414 415 422 431",
    "Failed, 402 406 409 418 600",
    "Unavailable, 401 403 404 405 407 408 410 421 511",
    "Unavailable, 423 425 429 502 503 504 507 509 520 521 522 523 524 525 526 527 530",
  })
  @DisplayName("a status says what became of a message, which is sent once, and its words are told")
  void statuses(String kind, String all) throws InterruptedException {
    for (String status : all.split(" ")) {
      receiver.requests.clear();
      receiver.answer = request -> new Reply(Integer.parseInt(status), Map.of(), "because");
      String text = "%s answered %s: because".formatted(receiver.url("/events"), status);
      Result result = publishOne(publisher(), message("k"));
      assertThat(result)
          .isEqualTo(
              switch (kind) {
                case "Delivered" -> Result.delivered();
                case "Rejected" -> Result.rejected(text);
                case "Failed" -> Result.failed(text);
                default -> Result.unavailable(text); // all there is, while it is the only one
              });
      if (result instanceof Result.Delivered delivered) {
        assertThat(delivered.decision().answer()).as("what the archive gets").contains(status);
      }
      assertThat(receiver.requests).hasSize(1);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {301, 302, 303, 304, 307, 308})
  @DisplayName("a redirect is not followed")
  void redirect(int status) throws InterruptedException {
    receiver.answer =
        request ->
            request.path().equals("/elsewhere")
                ? Reply.of(204)
                : Reply.of(status).with("Location", receiver.url("/elsewhere"));
    Result result = publishOne(publisher(), message("k"));
    assertThat(result).isInstanceOf(Result.Unavailable.class);
    assertThat(error(result)).contains(status + ", a redirect, which is not followed");
    assertThat(receiver.requests).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/bad", "/order"})
  @DisplayName("one endpoint of several is unavailable by its name, without what may be secret")
  void oneOfSeveral(String path) throws InterruptedException {
    receiver.answer = request -> Reply.of("b".equals(request.field("ce-subject")) ? 404 : 204);
    HttpPublisher publisher = toTwo(receiver.url(path + "?token=s3cret"));
    List<Result> results =
        publisher.publish(
            List.of(stored(message("a")), stored(message("b").aggregateType("other"))));
    assertThat(results)
        .containsExactly(
            Result.delivered(),
            Result.unavailable(receiver.url(path) + " answered 404", receiver.url(path)));
  }

  @Test
  @DisplayName("one host of several that cannot be reached is unavailable by its name")
  void oneHostOfSeveral() throws Exception {
    String closed;
    try (ServerSocket socket = new ServerSocket(0)) {
      closed = "http://localhost:" + socket.getLocalPort();
    }
    List<Result> results =
        toTwo(closed + "/events")
            .publish(List.of(stored(message("a")), stored(message("b").aggregateType("other"))));
    assertThat(results.get(0)).isEqualTo(Result.delivered());
    assertThat(results.get(1))
        .isInstanceOfSatisfying(
            Result.Unavailable.class,
            result -> {
              assertThat(result.destination()).isEqualTo(closed);
              assertThat(result.error()).contains("ConnectException");
            });
  }

  @Test
  @DisplayName("a host that has no address is unavailable")
  void unknownHost() throws InterruptedException {
    Result result =
        publishOne(TestMessages.publisher("http://no.such.host.invalid/").build(), message("k"));
    assertThat(result).isInstanceOf(Result.Unavailable.class);
    assertThat(error(result)).contains("no.such.host.invalid", "ConnectException");
  }

  // ---- left alone

  @ParameterizedTest
  @ValueSource(ints = {429, 503})
  @DisplayName("an endpoint gets no request before the time that it named by Retry-After")
  void retryAfter(int status) throws InterruptedException {
    receiver.answer = request -> Reply.of(status).with("Retry-After", "3600");
    HttpPublisher publisher = publisher();
    for (int i = 0; i < 3; i++) {
      assertThat(publishOne(publisher, message("k" + i))).isInstanceOf(Result.Unavailable.class);
    }
    assertThat(receiver.requests).hasSize(1);
  }

  @Test
  @DisplayName("after that time one request tries, and then all are sent again")
  void afterRetryAfter() throws InterruptedException {
    receiver.answer = request -> Reply.of(503).with("Retry-After", "1");
    HttpPublisher publisher = publisher();
    long begin = System.nanoTime();
    assertThat(publishOne(publisher, message("k"))).isInstanceOf(Result.Unavailable.class);
    receiver.requests.clear();
    receiver.answer = request -> Reply.of(204);
    await().until(() -> publishOne(publisher, message("k")).equals(Result.delivered()));
    assertThat(System.nanoTime() - begin).isGreaterThan(1_000_000_000L);
    assertThat(receiver.requests).hasSize(1);
    assertThat(publisher.publish(batch("a", "b", "c"))).containsOnly(Result.delivered());
  }

  @Test
  @DisplayName("a busy endpoint does not keep others of the same host waiting")
  void busyBeside() throws InterruptedException {
    receiver.answer =
        request ->
            request.path().equals("/bad") ? Reply.of(503).with("Retry-After", "99") : Reply.of(204);
    HttpPublisher publisher = toTwo(receiver.url("/bad"));
    for (int i = 0; i < 2; i++) {
      assertThat(
              publisher.publish(
                  List.of(stored(message("b").aggregateType("other")), stored(message("a")))))
          .element(1)
          .isEqualTo(Result.delivered());
    }
    assertThat(receiver.requests).hasSize(3);
  }

  @Test
  @DisplayName("a host that hangs keeps no other one's result, and is then left alone")
  void hangs() throws Exception {
    try (RawServer silent = RawServer.silent()) {
      HttpPublisher publisher = both(silent.url()).requestTimeout(Duration.ofSeconds(2)).build();
      assertThat(publishOne(publisher, message("a"))).isEqualTo(Result.delivered());
      StoredMessage stuck = stored(message("b").aggregateType("other"));
      List<Result> first = publisher.publish(List.of(stuck, stored(message("a"))));
      assertThat(first.get(0)).matches(TestMessages::isOpen);
      assertThat(error(first.get(0)))
          .isEqualTo("sent to %s, which has not answered yet".formatted(silent.url()));
      assertThat(first.get(1)).isEqualTo(Result.delivered());
      assertThat(publisher.publish(List.of(stuck)).get(0)).matches(TestMessages::isOpen);
      assertThat(silent.requests).as("it is not sent twice").hasValue(1);
      await().until(() -> !TestMessages.isOpen(publisher.publish(List.of(stuck)).get(0)));
      int asked = silent.requests.get();
      Result second = publishOne(publisher, message("c").aggregateType("other"));
      assertThat(error(second)).contains("not sent for now", "timed out");
      assertThat(silent.requests).hasValue(asked);
    }
  }

  @Test
  @DisplayName("requests that no call waits for are as many as may be on their way to one host")
  void mostLeft() throws Exception {
    try (RawServer silent = RawServer.silent()) {
      HttpPublisher publisher =
          both(silent.url()).requestTimeout(Duration.ofSeconds(20)).maxInFlight(3).build();
      assertThat(publishOne(publisher, message("a"))).isEqualTo(Result.delivered());
      List<StoredMessage> stuck =
          IntStream.range(0, 5)
              .mapToObj(i -> stored(message("k" + i).aggregateType("other")))
              .toList();
      await()
          .until(() -> publisher.publish(stuck).stream().filter(TestMessages::isOpen).count() == 3);
      Result more = publisher.publish(stuck.subList(4, 5)).get(0);
      assertThat(error(more))
          .isEqualTo(
              "not sent to %s, because 3 requests to it have not been answered yet"
                  .formatted(silent.url()));
      assertThat(silent.requests).hasValue(3);
    }
  }

  @Test
  @DisplayName("what is answered late is delivered, and was sent once")
  void late() throws InterruptedException {
    CountDownLatch answering = new CountDownLatch(1);
    receiver.answerLate("late", answering);
    HttpPublisher publisher =
        TestMessages.publisher(receiver.url("/events")).timeout(TestMessages.TIMEOUT).build();
    List<StoredMessage> messages = batch("late", "late", "a");
    List<Result> results =
        await()
            .until(() -> publisher.publish(messages), all -> all.get(2).equals(Result.delivered()));
    assertThat(results.get(0)).matches(TestMessages::isOpen);
    assertThat(error(results.get(1))).as("behind it").startsWith("not sent, because message");
    answering.countDown();
    await().until(() -> publishOne(publisher, messages.get(0)).equals(Result.delivered()));
    assertThat(publisher.publish(messages.subList(1, 2))).containsExactly(Result.delivered());
    assertThat(receiver.requests)
        .filteredOn(request -> request.field("ce-subject").equals("late"))
        .hasSize(2);
  }

  // ---- who is to blame

  @Test
  @DisplayName("500 is the endpoint's trouble, however often, while it takes no other message")
  void troubled() throws InterruptedException {
    receiver.answer = request -> Reply.of(500);
    HttpPublisher publisher = publisher();
    List<StoredMessage> messages = batch("a", "b", "c");
    for (int i = 0; i < 30; i++) {
      assertThat(publishOne(publisher, messages.get(i % 3))).isInstanceOf(Result.Unavailable.class);
    }
    assertThat(receiver.requests).as("it is left alone meanwhile").hasSizeLessThan(10);
  }

  @Test
  @DisplayName("500 again and again, and others delivered in between: the message has failed")
  void poison() throws InterruptedException {
    receiver.answer = request -> Reply.of(isPoison(request) ? 500 : 204);
    HttpPublisher publisher = publisher();
    StoredMessage poison = stored(message("poison"));
    for (int i = 1; i < Suspects.ENOUGH; i++) {
      assertThat(publishOne(publisher, poison)).isInstanceOf(Result.Unavailable.class);
      assertThat(publishOne(publisher, message("k"))).isEqualTo(Result.delivered());
    }
    for (int i = 0; i < 2; i++) {
      assertThat(publishOne(publisher, poison))
          .isEqualTo(
              Result.failed(
                  receiver.url("/events")
                      + " answered 500; others were delivered there in between"));
      assertThat(publishOne(publisher, message("k"))).isEqualTo(Result.delivered());
    }
    receiver.answer = request -> Reply.of(500);
    assertThat(publishOne(publisher, message("k"))).isInstanceOf(Result.Unavailable.class);
    assertThat(publishOne(publisher, poison)).isInstanceOf(Result.Failed.class);
    assertThat(publishOne(publisher, poison))
        .as("an outage, too")
        .isInstanceOf(Result.Unavailable.class);
  }

  @Test
  @DisplayName("two outboxes that share the publisher have messages with the same number")
  void sameNumber() throws InterruptedException {
    receiver.answer = request -> Reply.of(isPoison(request) ? 500 : 204);
    HttpPublisher publisher = publisher();
    StoredMessage poison = stored(message("poison"));
    StoredMessage ofTheOther =
        StoredMessage.of(poison.sequence(), 0, poison.createdAt(), message("k").build());
    for (int i = 1; i < Suspects.ENOUGH; i++) {
      assertThat(publishOne(publisher, poison)).isInstanceOf(Result.Unavailable.class);
      assertThat(publishOne(publisher, ofTheOther)).isEqualTo(Result.delivered());
    }
    assertThat(publishOne(publisher, poison)).isInstanceOf(Result.Failed.class);
  }

  private static boolean isPoison(Receiver.Request request) {
    return "poison".equals(request.field("ce-subject"));
  }

  @Test
  @DisplayName("a message on which the endpoint hangs stops no other one, and fails in the end")
  void hangsOnOne() throws InterruptedException {
    CountDownLatch over = new CountDownLatch(1);
    receiver.answerLate("poison", over);
    HttpPublisher publisher =
        TestMessages.publisher(receiver.url("/events"))
            .requestTimeout(Duration.ofMillis(500))
            .build();
    StoredMessage poison = stored(message("poison"));
    Result result = Result.unavailable("");
    for (int i = 0; result instanceof Result.Unavailable; i++) {
      result = publisher.publish(List.of(poison)).get(0);
      StoredMessage other = stored(message("k"));
      // On a busy machine its answer may take longer than a call waits beside one that hangs.
      await().until(() -> publishOne(publisher, other), Result.delivered()::equals);
    }
    over.countDown();
    assertThat(result).isInstanceOf(Result.Failed.class);
    assertThat(error(result)).contains("timed out; others were delivered there in between");
    assertThat(receiver.requests)
        .filteredOn(AnswersTest::isPoison)
        .hasSizeBetween(Suspects.ENOUGH, 2 * Suspects.ENOUGH);
  }

  @Test
  @DisplayName("Retry-After may be a number of seconds or a time; anything else says nothing")
  void forms() {
    assertThat(Answer.retryAfter("120")).isEqualTo(Duration.ofSeconds(120));
    assertThat(
            Answer.retryAfter(
                DateTimeFormatter.RFC_1123_DATE_TIME.format(
                    Instant.now().plusSeconds(600).atOffset(ZoneOffset.UTC))))
        .isBetween(Duration.ofSeconds(500), Duration.ofSeconds(600));
    assertThat(Answer.retryAfter("Wed, 21 Oct 2015 07:28:00 GMT")).isEqualTo(Duration.ZERO);
    for (String nothing : List.of("", "soon", "-1", "1.5", "99999999999999999999")) {
      assertThat(Answer.retryAfter(nothing)).as(nothing).isNull();
    }
  }

  @Test
  @DisplayName("pauses double while the trouble lasts, and Retry-After of years counts as an hour")
  void pauses() {
    EndpointPauses gates = new EndpointPauses();
    List<String> places = List.of("host", "endpoint");
    long now = 1_000_000;
    long pause = EndpointPauses.FIRST_PAUSE.toNanos();
    for (int i = 0; i < 10; i++) {
      assertThat(gates.enter(places, now)).isNull();
      gates.works(List.of("host"));
      gates.inTrouble("endpoint", "busy", null, now);
      gates.inTrouble("endpoint", "busy", null, now + 1);
      assertThat(gates.enter(places, now + pause - 1)).isEqualTo("busy");
      now += pause;
      pause = Math.min(pause * 2, EndpointPauses.LONGEST_PAUSE.toNanos());
    }
    assertThat(gates.enter(places, now)).isNull();
    assertThat(gates.enter(places, now)).as("while one request tries").isEqualTo("busy");
    gates.unknown(places);
    assertThat(gates.enter(places, now)).as("when that one told nothing").isNull();
    gates.inTrouble("endpoint", "busy", Duration.ofDays(999), now);
    long hour = EndpointPauses.LONGEST_RETRY_AFTER.toNanos();
    assertThat(gates.enter(places, now + hour - 1)).isEqualTo("busy");
    assertThat(gates.enter(places, now + hour)).isNull();
    gates.works(places);
    assertThat(gates.enter(places, now)).isNull();
    assertThat(gates.enter(places, now)).isNull();
  }

  @Test
  @Timeout(30)
  @DisplayName("very many endpoints in trouble cost no more time each, and old ones are forgotten")
  void manyInTrouble() {
    EndpointPauses gates = new EndpointPauses();
    for (int i = 0; i < 200_000; i++) {
      gates.inTrouble("endpoint" + i, "busy", null, 0);
    }
    long later = Duration.ofMinutes(2).toNanos();
    gates.inTrouble("endpoint1", "busy", null, later);
    assertThat(gates.enter(List.of("endpoint1"), later + EndpointPauses.FIRST_PAUSE.toNanos()))
        .as("a new trouble")
        .isNull();
  }

  // ---- signs of life, and the end

  @Test
  @DisplayName("a sign of life is asked for without publishing, and the address is masked")
  void reachable() throws InterruptedException {
    HttpPublisher publisher =
        TestMessages.publisher(receiver.url("/events?token=s3cret")).header("x-a", "b").build();
    assertThat(publisher.address()).isEqualTo(receiver.url("/events"));
    receiver.answer = request -> Reply.of(405);
    assertThat(publisher.unreachable(TestMessages.TIMEOUT)).isEmpty();
    Receiver.Request request = receiver.next();
    assertThat(request.method()).isEqualTo("OPTIONS");
    assertThat(request.field("x-a")).isEqualTo("b");
    receiver.answer = asked -> Reply.of(401);
    assertThat(publisher.unreachable(TestMessages.TIMEOUT)).hasValue("it answered 401");
    HttpPublisher pattern = TestMessages.publisher(receiver.url("/{aggregateType}")).build();
    assertThat(pattern.address()).isEqualTo(receiver.url("/{aggregateType}"));
    assertThat(pattern.unreachable(TestMessages.TIMEOUT)).hasValue("it answered 401");
    HttpPublisher besideUrl =
        TestMessages.publisher(receiver.url("/"))
            .destination(Destination.by(m -> "https://elsewhere.example/"))
            .build();
    assertThat(besideUrl.address()).isEqualTo(receiver.url("/"));
    assertThat(besideUrl.unreachable(TestMessages.TIMEOUT)).hasValue("it answered 401");
  }

  @Test
  @DisplayName("where no host is known before there is a message, none is said to answer")
  void nobodyToAsk() {
    HttpPublisher function =
        HttpPublisher.builder()
            .destination(Destination.by(m -> receiver.url("/")))
            .cloudEvents(TestMessages.SOURCE)
            .build();
    assertThat(function.address()).isNull();
    String host = "https://{aggregateType}.partner.example/in";
    assertThat(TestMessages.publisher(host).build().address()).isNull();
  }

  @Test
  @DisplayName("a closed publisher sends nothing")
  void closed() throws InterruptedException {
    HttpPublisher publisher = publisher();
    publisher.close();
    Result result = publishOne(publisher, message("k"));
    assertThat(error(result)).contains("the publisher is closed");
    assertThat(receiver.requests).isEmpty();
  }

  @Test
  @DisplayName("a publisher that is closed ends the requests that no call waits for")
  void closedLate() throws Exception {
    try (RawServer silent = RawServer.silent()) {
      HttpPublisher publisher =
          TestMessages.publisher(silent.url()).timeout(TestMessages.TIMEOUT).build();
      assertThat(publisher.publish(batch("k")).get(0)).matches(TestMessages::isOpen);
      publisher.close();
      await().until(silent.connections::isEmpty);
    }
  }

  @Test
  @DisplayName("an interrupted call ends at once")
  void interrupted() throws Exception {
    CountDownLatch answering = new CountDownLatch(1);
    receiver.answer =
        request -> {
          try {
            answering.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          return Reply.of(204);
        };
    CompletableFuture<Result> result = new CompletableFuture<>();
    Thread caller =
        new Thread(
            () -> {
              try {
                result.complete(publishOne(publisher(), message("k")));
              } catch (InterruptedException e) {
                result.completeExceptionally(e);
              }
            });
    caller.start();
    receiver.next();
    caller.interrupt();
    try {
      assertThat(result.get(1, TimeUnit.MINUTES)).as("no result").isNull();
    } catch (ExecutionException e) {
      assertThat(e).hasCauseInstanceOf(InterruptedException.class);
    } finally {
      answering.countDown();
    }
  }
}
