package dev.outbox.publisher.rabbitmq;

import static dev.outbox.embedded.TestMessages.destination;
import static dev.outbox.embedded.TestMessages.error;
import static dev.outbox.embedded.TestMessages.message;
import static dev.outbox.embedded.TestMessages.publishUntilDelivered;
import static dev.outbox.embedded.TestMessages.stored;
import static dev.outbox.publisher.rabbitmq.TestRabbit.sequences;
import static dev.outbox.publisher.rabbitmq.TestRabbit.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.BuiltinExchangeType;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RabbitPublisherTest {
  private static final int KEYS = 40;

  private String exchange;
  private RabbitPublisher publisher;

  @BeforeEach
  void start() {
    exchange = TestRabbit.exchange();
    publisher = TestRabbit.publisher().build();
  }

  @AfterEach
  void stop() {
    publisher.close();
  }

  private StoredMessage to(String name, String key) {
    return stored(message(name, key));
  }

  private List<StoredMessage> many(int count) {
    return IntStream.range(0, count).mapToObj(i -> to(exchange, "k" + i % KEYS)).toList();
  }

  private static void assertAll(List<Result> results, Result expected) {
    assertThat(results.stream().filter(r -> !r.equals(expected)).findFirst()).isEmpty();
  }

  // ---- what arrives

  @Test
  @DisplayName("properties say what headers say, where AMQP has room for it")
  void properties() throws Exception {
    StoredMessage whole =
        stored(
            message(exchange, "k")
                .eventType("OrderPlaced")
                .contentType("text/plain")
                .correlationId("c-1")
                .header("tenant", "blue"));
    String wide = "\u00fc".repeat(200); // 400 bytes
    StoredMessage tooWide =
        stored(message(exchange, "k").eventType("E").contentType(wide).correlationId(wide));
    assertAll(publisher.publish(List.of(whole, tooWide)), Result.delivered());

    List<GetResponse> arrived = TestRabbit.read(exchange);
    GetResponse first = arrived.get(0);
    assertThat(first.getEnvelope().getRoutingKey()).isEqualTo("OrderPlaced");
    assertThat(first.getProps().getDeliveryMode()).isEqualTo(2);
    assertThat(first.getProps().getMessageId()).isEqualTo(whole.message().id().toString());
    assertThat(first.getProps().getType()).isEqualTo("OrderPlaced");
    assertThat(first.getProps().getContentType()).isEqualTo("text/plain");
    assertThat(first.getProps().getCorrelationId()).isEqualTo("c-1");
    assertThat(first.getProps().getTimestamp())
        .isEqualTo(Date.from(whole.createdAt().truncatedTo(ChronoUnit.SECONDS)));
    assertThat(TestRabbit.header(first, "outbox-created-at"))
        .isEqualTo(whole.createdAt().toString());
    assertThat(TestRabbit.header(first, "tenant")).isEqualTo("blue");
    assertThat(TestRabbit.header(first, Mapping.HEADERS)).isNull();

    GetResponse second = arrived.get(1);
    assertThat(second.getProps().getContentType()).isNull();
    assertThat(second.getProps().getCorrelationId()).isNull();
    assertThat(TestRabbit.header(second, "content-type")).isEqualTo(wide);
    assertThat(TestRabbit.header(second, "outbox-correlation-id")).isEqualTo(wide);
  }

  @Test
  @DisplayName("headers that a table cannot hold come as JSON, also those RabbitMQ would act on")
  void headersAsJson() throws Exception {
    String elsewhere = TestRabbit.exchange();
    List<Header> headers =
        List.of(
            new Header("a", "1"),
            new Header("CC", elsewhere),
            new Header("BCC", elsewhere),
            new Header("outbox-id", "mine"),
            new Header("\u00fc".repeat(200), "wide"),
            new Header("a", "\u0001 \" \\ \ud83d\ude00"));
    OutboxMessage.Builder message = message(exchange, "k").eventType(elsewhere);
    headers.forEach(h -> message.header(h.name(), h.value()));
    StoredMessage sent = stored(message);
    assertAll(publisher.publish(List.of(sent)), Result.delivered());

    GetResponse arrived = TestRabbit.read(exchange).get(0);
    assertThat(TestRabbit.headers(arrived)).isEqualTo(headers);
    assertThat(TestRabbit.header(arrived, "a")).isEqualTo(headers.get(5).value());
    assertThat(TestRabbit.header(arrived, "outbox-id")).isEqualTo(sent.message().id().toString());
    assertThat(TestRabbit.header(arrived, "CC")).isNull();
    assertThat(TestRabbit.read(elsewhere)).as("what went along").isEmpty();
  }

  @Test
  @DisplayName("the most headers that a message may have fit, however they have to be written")
  void mostHeaders() throws Exception {
    String text = "\ud83d\ude00".repeat(OutboxMessage.MAX_TEXT);
    OutboxMessage.Builder message =
        OutboxMessage.builder()
            .aggregate(text, text)
            .eventType(text)
            .partitionKey(text)
            .contentType(text)
            .dedupKey(text)
            .correlationId(text)
            .header("n", "\u0001".repeat(15_990))
            .header("n", "")
            .payload("");
    try (RabbitPublisher named =
        TestRabbit.publisher()
            .destination(Destination.pattern(exchange))
            .routingKey(Destination.pattern("k"))
            .build()) {
      assertAll(named.publish(List.of(stored(message))), Result.delivered());
    }
    assertThat(TestRabbit.headers(TestRabbit.read(exchange).get(0)))
        .isEqualTo(message.build().headers());
  }

  // ---- places that do not take it

  @Test
  @DisplayName("a missing exchange is unavailable by name, and used once it is declared")
  void missingExchange() throws Exception {
    String missing = TestRabbit.name();
    List<StoredMessage> messages = List.of(to(missing, "a"), to(exchange, "b"));
    List<Result> results = publisher.publish(messages);
    assertThat(destination(results.get(0))).isEqualTo(missing);
    assertThat(error(results.get(0))).contains(missing).contains("does not exist");
    assertThat(((Result.Delivered) results.get(1)).decision().answer())
        .as("what the archive gets")
        .startsWith(exchange)
        .matches(".*, delivery tag \\d+");
    assertThat(sequences(exchange)).as("nothing comes twice").hasSize(1);
    with(
        channel -> {
          channel.exchangeDeclare(missing, BuiltinExchangeType.TOPIC, true);
          return channel.queueBind(exchange, missing, "#");
        });
    assertAll(publisher.publish(List.of(messages.get(0))), Result.delivered());
  }

  @Test
  @DisplayName("an exchange that vanishes closes the channel: it alone is unavailable")
  void exchangeVanishes() throws Exception {
    String vanishes = TestRabbit.exchange();
    assertAll(publisher.publish(List.of(to(vanishes, "a"))), Result.delivered());
    with(channel -> channel.exchangeDelete(vanishes));

    List<StoredMessage> messages = new ArrayList<>(many(KEYS));
    messages.add(20, to(vanishes, "v"));
    List<Result> results = publisher.publish(messages);
    assertThat(destination(results.get(20))).isEqualTo(vanishes);
    assertAll(without(results, 20), Result.delivered());
    assertThat(sequences(exchange)).containsAll(sequencesOf(without(messages, 20)));
  }

  private static <T> List<T> without(List<T> all, int index) {
    List<T> rest = new ArrayList<>(all);
    rest.remove(index);
    return rest;
  }

  private static List<Long> sequencesOf(List<StoredMessage> messages) {
    return messages.stream().map(StoredMessage::sequence).toList();
  }

  @Test
  @DisplayName("what no queue is bound for is unavailable with its routing key; others go on")
  void unroutable() throws Exception {
    with(
        channel -> {
          channel.queueUnbind(exchange, exchange, "#");
          return channel.queueBind(exchange, exchange, "good");
        });
    List<Result> results =
        publisher.publish(
            List.of(
                stored(message(exchange, "a").eventType("good")),
                stored(message(exchange, "b").eventType("bad")),
                stored(message(exchange, "b").eventType("good")),
                stored(message(exchange, "a").eventType("good"))));
    assertAll(List.of(results.get(0), results.get(3)), Result.delivered());
    assertThat(destination(results.get(1))).isEqualTo(exchange + "/bad");
    assertThat(error(results.get(1))).contains("no queue takes it").contains("NO_ROUTE");
    assertThat(error(results.get(2))).contains("not sent, because message");
  }

  @Test
  @DisplayName("to the default exchange the routing key is the queue, which is named")
  void defaultExchange() throws Exception {
    try (RabbitPublisher queues =
        TestRabbit.publisher()
            .destination(Destination.pattern(Mapping.DEFAULT_EXCHANGE))
            .routingKey(Destination.aggregateType())
            .build()) {
      String missing = TestRabbit.name();
      List<Result> results = queues.publish(List.of(to(exchange, "a"), to(missing, "b")));
      assertThat(results.get(0)).isEqualTo(Result.delivered());
      assertThat(destination(results.get(1))).isEqualTo(missing);
    }
    assertThat(sequences(exchange)).hasSize(1);
  }

  @Test
  @DisplayName("when a binding vanishes in the middle of a batch, each key stops where it is")
  void bindingVanishes() throws Exception {
    List<StoredMessage> messages = many(KEYS * 100);
    CompletableFuture<Void> unbound =
        CompletableFuture.runAsync(
            () -> {
              await()
                  .pollInterval(Duration.ofMillis(1))
                  .until(() -> with(channel -> channel.messageCount(exchange)) > KEYS);
              var unused = with(channel -> channel.queueUnbind(exchange, exchange, "#"));
            });
    List<Result> results = publisher.publish(messages);
    unbound.join();
    assertThat(results).contains(Result.delivered());
    assertThat(results).hasAtLeastOneElementOfType(Result.Unavailable.class);
    Map<String, List<Long>> arrived = TestRabbit.firstArrivals(exchange);
    for (int key = 0; key < KEYS; key++) {
      String name = "k" + key;
      List<StoredMessage> ofKey = messages.stream().filter(m -> m.key().equals(name)).toList();
      long delivered =
          ofKey.stream()
              .filter(m -> results.get(messages.indexOf(m)) instanceof Result.Delivered)
              .count();
      assertThat(arrived.get(name)).isEqualTo(sequencesOf(ofKey.subList(0, (int) delivered)));
    }
    with(channel -> channel.queueBind(exchange, exchange, "#"));
    publishUntilDelivered(publisher, undelivered(messages, results));
    Map<String, List<Long>> all = TestRabbit.firstArrivals(exchange);
    for (int key = 0; key < KEYS; key++) {
      String name = "k" + key;
      assertThat(all.get(name))
          .isEqualTo(sequencesOf(messages.stream().filter(m -> m.key().equals(name)).toList()));
    }
  }

  private static List<StoredMessage> undelivered(List<StoredMessage> all, List<Result> results) {
    return IntStream.range(0, all.size())
        .filter(i -> !(results.get(i) instanceof Result.Delivered))
        .mapToObj(all::get)
        .toList();
  }

  @Test
  @DisplayName("a queue that is full and refuses more is unavailable; others go on")
  void overflow() throws Exception {
    String full = TestRabbit.exchange(Map.of("x-max-length", 1, "x-overflow", "reject-publish"));
    List<Result> results =
        publisher.publish(List.of(to(full, "a"), to(full, "a"), to(full, "a"), to(exchange, "b")));
    assertThat(results.get(0)).isEqualTo(Result.delivered());
    // The broker counts the first one as ready a moment later, so a second may fit.
    assertThat(destination(results.get(2))).isEqualTo(full + "/Happened");
    assertThat(results.get(3)).isEqualTo(Result.delivered());
    List<Result> again = publisher.publish(List.of(to(full, "c"), to(exchange, "d")));
    assertThat(destination(again.get(0))).isEqualTo(full + "/Happened");
    assertThat(error(again.get(0))).contains("basic.nack");
    assertThat(again.get(1)).isEqualTo(Result.delivered());
  }

  // ---- messages that are never taken

  @Test
  @DisplayName("those that are too large are rejected, each key stops there, the rest is delivered")
  void tooLarge() throws Exception {
    List<StoredMessage> messages = many(KEYS * 5);
    List<Integer> large = List.of(3, 50, 51, 120, 199);
    List<Result> results;
    try (RabbitPublisher inflating =
        TestRabbit.publisher()
            .body(
                m ->
                    large.contains(messages.indexOf(m))
                        ? new byte[TestRabbit.MAX_MESSAGE_SIZE + 1]
                        : new byte[10])
            .build()) {
      results = inflating.publish(messages);
    }
    for (int i = 0; i < messages.size(); i++) {
      int position = i;
      if (large.contains(i) && results.get(i) instanceof Result.Rejected rejected) {
        assertThat(rejected.error()).contains("larger than").contains(exchange);
      } else if (large.stream().anyMatch(l -> l <= position && l % KEYS == position % KEYS)) {
        assertThat(error(results.get(i))).contains("not sent, because message");
      } else {
        assertThat(results.get(i)).isEqualTo(Result.delivered());
      }
    }
    assertThat(results.stream().filter(Result.Rejected.class::isInstance)).hasSize(5);
    for (List<Long> ofKey : TestRabbit.firstArrivals(exchange).values()) {
      assertThat(ofKey).isSorted();
    }
  }

  @Test
  @DisplayName("what the client refuses is rejected, and the confirms of the others still fit")
  void refusedByClient() throws Exception {
    String text = "\u00fc".repeat(200);
    List<StoredMessage> messages = new ArrayList<>(many(KEYS * 2));
    messages.add(10, stored(message(exchange, "wide").eventType(text)));
    messages.add(30, stored(message(exchange, "wide")));
    List<Result> results = publisher.publish(messages);
    assertThat(results.get(10)).isInstanceOf(Result.Rejected.class);
    assertThat(error(results.get(10))).contains("the routing key has 400 bytes").contains("255");
    assertThat(error(results.get(30))).contains("not sent, because message");
    assertAll(without(without(results, 30), 10), Result.delivered());

    ConnectionFactory small = new ConnectionFactory();
    small.setUri(TestRabbit.uri());
    small.setRequestedFrameMax(8_192);
    try (RabbitPublisher frames = RabbitPublisher.builder().connectionFactory(small).build()) {
      List<StoredMessage> more = new ArrayList<>(many(KEYS * 2));
      more.set(20, stored(message(exchange, "k20").header("h", "x".repeat(9_000))));
      List<Result> given = frames.publish(more);
      assertThat(given.get(20)).isInstanceOf(Result.Rejected.class);
      assertThat(error(given.get(20))).contains("frame size");
      assertThat(error(given.get(60))).contains("not sent, because message");
      assertAll(without(without(given, 60), 20), Result.delivered());
      assertAll(frames.publish(many(KEYS)), Result.delivered());
    }
  }

  @Test
  @DisplayName("a message without an exchange is rejected, one whose function throws has failed")
  void functions() throws Exception {
    try (RabbitPublisher given =
        TestRabbit.publisher()
            .destination(
                Destination.by(m -> m.key().equals("none") ? null : m.message().aggregateType()))
            .routingKey(
                Destination.by(
                    m -> {
                      if (m.key().equals("bad")) {
                        throw new IllegalStateException("no key today");
                      }
                      return "key";
                    }))
            .build()) {
      List<Result> results =
          given.publish(List.of(to(exchange, "none"), to(exchange, "bad"), to(exchange, "good")));
      assertThat(results.get(0)).isInstanceOf(Result.Rejected.class);
      assertThat(results.get(1)).isInstanceOf(Result.Failed.class);
      assertThat(error(results.get(1))).contains("no key today");
      assertThat(results.get(2)).isEqualTo(Result.delivered());
    }
  }

  // ---- the rest

  @Test
  @DisplayName(
      "a destination that confirms nothing is left, asked again one at a time, and used once it does")
  void silentDestination() throws Exception {
    try (RabbitPublisher mixed =
            TestRabbit.publisher()
                .timeout(Duration.ofSeconds(12))
                .destination(Destination.by(m -> m.message().aggregateType()))
                .build();
        SuspendedQueue suspended = SuspendedQueue.make()) {
      List<StoredMessage> messages = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        messages.add(stored(message("amq.default", "s" + i).eventType(suspended.name())));
        messages.add(to(exchange, "k" + i));
      }
      List<Result> results = mixed.publish(messages);
      for (int i = 0; i < 10; i++) {
        assertThat(destination(results.get(2 * i))).isEqualTo(suspended.name());
        assertThat(error(results.get(2 * i))).contains("not confirmed in time");
        assertThat(results.get(2 * i + 1)).isEqualTo(Result.delivered());
      }
      List<Result> again = mixed.publish(messages.subList(0, 2));
      assertThat(error(again.get(0))).contains("still on their way");
      assertThat(again.get(1)).isEqualTo(Result.delivered());

      suspended.close();
      publishUntilDelivered(mixed, messages.stream().filter(m -> m.key().startsWith("s")).toList());
      assertThat(TestRabbit.firstArrivals(suspended.name())).hasSize(10);
      assertThat(sequences(suspended.name()))
          .as("each once, though its confirm was late")
          .hasSize(10);
    }
  }

  @Test
  @DisplayName("the function around a send runs in the calling thread, and its errors come through")
  void aroundSend() throws Exception {
    Thread caller = Thread.currentThread();
    try (RabbitPublisher wrapped =
        TestRabbit.publisher()
            .aroundSend(
                (m, send) -> {
                  assertThat(Thread.currentThread()).isSameAs(caller);
                  if (m.key().equals("bad")) {
                    throw new IllegalStateException("not this one");
                  }
                  send.run();
                })
            .build()) {
      assertAll(wrapped.publish(many(KEYS)), Result.delivered());
      assertThatThrownBy(() -> wrapped.publish(List.of(to(exchange, "bad"))))
          .hasMessage("not this one");
      assertAll(wrapped.publish(many(KEYS)), Result.delivered());
    }
  }

  @Test
  @DisplayName("where the broker does not say whether an exchange is there, a publish shows it")
  void unknownExchange() throws Exception {
    ConnectionFactory silent = new SilentAboutExchanges();
    silent.setUri(TestRabbit.uri());
    String missing = TestRabbit.name();
    List<StoredMessage> messages = new ArrayList<>(many(KEYS));
    messages.add(20, to(missing, "missing"));
    try (RabbitPublisher told = RabbitPublisher.builder().connectionFactory(silent).build()) {
      List<Result> results = told.publish(messages);
      assertThat(destination(results.get(20))).isEqualTo(missing);
      assertThat(error(results.get(20))).contains("does not exist");
      assertAll(without(results, 20), Result.delivered());
    }
  }

  @Test
  @DisplayName("a call that gets no channel fails alone, and ends no other")
  void channels() throws Exception {
    ConnectionFactory two = new ConnectionFactory();
    two.setUri(TestRabbit.uri());
    two.setRequestedChannelMax(2); // one of them asks for exchanges
    List<Result> beside = new ArrayList<>();
    AtomicReference<RabbitPublisher> self = new AtomicReference<>();
    try (RabbitPublisher limited =
        RabbitPublisher.builder()
            .connectionFactory(two)
            .aroundSend(
                (m, send) -> {
                  if (beside.isEmpty()) {
                    beside.addAll(publishBeside(self.get()));
                  }
                  send.run();
                })
            .build()) {
      self.set(limited);
      assertAll(limited.publish(many(1)), Result.delivered());
      assertThat(destination(beside.get(0))).isNull();
      assertThat(error(beside.get(0))).contains("has no channel left: raise its channel_max");
      assertAll(limited.publish(many(1)), Result.delivered());
    }
    assertThat(sequences(exchange)).hasSize(2);
  }

  private List<Result> publishBeside(RabbitPublisher same) {
    try {
      return same.publish(List.of(to(exchange, "beside")));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  @DisplayName("interrupted, it stops; the next call works")
  void interrupted() throws Exception {
    Thread.currentThread().interrupt();
    List<StoredMessage> messages = many(KEYS);
    assertThatThrownBy(() -> publisher.publish(messages)).isInstanceOf(InterruptedException.class);
    assertThat(Thread.interrupted()).isFalse();
    publishUntilDelivered(publisher, messages);
  }

  @Test
  @DisplayName("closed, it says so; no thread of it is left")
  void closed() throws Exception {
    assertAll(publisher.publish(many(KEYS)), Result.delivered());
    publisher.close();
    Result result = publisher.publish(many(1)).get(0);
    assertThat(error(result)).isEqualTo("the publisher is closed");
    assertThat(destination(result)).isNull();
    await()
        .until(
            () ->
                Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(t -> t.getName().startsWith("outbox-rabbitmq")));
  }
}
