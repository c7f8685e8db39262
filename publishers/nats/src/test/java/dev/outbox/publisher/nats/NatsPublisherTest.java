package dev.outbox.publisher.nats;

import static dev.outbox.embedded.TestMessages.batch;
import static dev.outbox.embedded.TestMessages.destination;
import static dev.outbox.embedded.TestMessages.error;
import static dev.outbox.embedded.TestMessages.message;
import static dev.outbox.embedded.TestMessages.publishOne;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxMessage;
import dev.outbox.embedded.EmbeddedNats;
import dev.outbox.embedded.TestMessages;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import io.nats.client.Connection;
import io.nats.client.api.DiscardPolicy;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.impl.SocketDataPort;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

/** A real server, and what goes wrong with it. */
class NatsPublisherTest {

  @Test
  @DisplayName("a message that the stream has already is delivered, and there once")
  void duplicate() throws Exception {
    String stream = TestNats.stream(settings -> settings);
    StoredMessage message = TestMessages.stored(message(stream, "k"));
    try (NatsPublisher publisher = TestNats.publisher().build()) {
      for (int i = 0; i < 3; i++) {
        List<Result> results = publisher.publish(List.of(message));
        assertThat(results).containsExactly(Result.delivered());
        assertThat(((Result.Delivered) results.get(0)).decision().answer())
            .as("the stream, and the sequence of the first in it")
            .isEqualTo(stream + "@1");
      }
    }
    assertThat(TestNats.read(stream)).hasSize(1);
  }

  @Test
  @DisplayName("a subject that no stream has is unavailable, and is used once it has one")
  void streamMissing() throws Exception {
    String name = TestNats.name();
    try (NatsPublisher publisher = TestNats.publisher().build()) {
      List<Result> results =
          publisher.publish(batch(message(name, "a"), message(name, "b"), message(name, "a")));
      for (Result result : results) {
        assertThat(destination(result)).isEqualTo(name + ".*");
      }
      assertThat(error(results.get(0)))
          .isEqualTo(
              "no stream has the subject %s.a: make one that has it; if there is one, it has no leader now"
                  .formatted(name));
      TestNats.stream(TestNats.url(), name, settings -> settings);
      assertThat(publishOne(publisher, message(name, "a"))).isEqualTo(Result.delivered());
    }
  }

  private static void assertFull(UnaryOperator<StreamConfiguration.Builder> limit, String says)
      throws Exception {
    String stream =
        TestNats.stream(settings -> limit.apply(settings).discardPolicy(DiscardPolicy.New));
    try (NatsPublisher publisher = TestNats.publisher().build()) {
      OutboxMessage.Builder message = message(stream, "a").payload(new byte[1_000]);
      List<StoredMessage> messages = List.of(another(message), another(message), another(message));
      List<Result> results = publisher.publish(messages);
      assertThat(results.get(0)).isEqualTo(Result.delivered());
      assertThat(results.get(1)).isInstanceOf(Result.Unavailable.class);
      assertThat(destination(results.get(1))).isEqualTo(stream + ".*");
      assertThat(error(results.get(1))).contains(says);
      assertThat(results.get(2)).isInstanceOf(Result.Unavailable.class);
      try (Connection connection = TestNats.connect(TestNats.url())) {
        connection.jetStreamManagement().purgeStream(stream);
      }
      assertThat(publisher.publish(messages.subList(1, 2))).containsExactly(Result.delivered());
    }
    assertThat(TestNats.read(stream)).hasSize(1);
  }

  private static StoredMessage another(OutboxMessage.Builder message) {
    return TestMessages.stored(message.id(UUID.randomUUID()));
  }

  @Test
  @DisplayName("a full stream that discards what is new is unavailable, until it has room")
  void streamFull() throws Exception {
    assertFull(settings -> settings.maxMessages(1), "maximum messages exceeded");
    assertFull(settings -> settings.maxBytes(2_000), "maximum bytes exceeded");
  }

  @Test
  @DisplayName("a stream that cannot take a message just now is unavailable, and blames no message")
  void streamBusy() throws Exception {
    String busy = TestNats.name();
    Map<String, String> errors =
        Map.of(
            "queue", "'code': 429, 'err_code': 10167, 'description': 'too many requests'",
            "id", "'code': 409, 'err_code': 10158, 'description': 'duplicate message id'");
    try (NatsPublisher publisher = TestNats.publisher().build();
        Connection stream = TestNats.connect(TestNats.url())) {
      stream
          .createDispatcher(
              message -> {
                String error = errors.get(message.getSubject().substring(busy.length() + 1));
                byte[] answer =
                    "{'error': {%s}}".formatted(error).replace('\'', '"').getBytes(UTF_8);
                stream.publish(message.getReplyTo(), answer);
              })
          .subscribe(busy + ".*");
      stream.flush(Duration.ofSeconds(30));
      for (Result result : publisher.publish(batch(message(busy, "queue"), message(busy, "id")))) {
        assertThat(destination(result)).isEqualTo(busy + ".*");
      }
    }
  }

  @Test
  @DisplayName("what is larger than the server takes is rejected; others are not")
  void tooLarge() throws Exception {
    try (EmbeddedNats small = start("max_payload: 3000")) {
      String there = TestNats.stream(small.url(), TestNats.name(), settings -> settings);
      try (NatsPublisher publisher = NatsPublisher.builder().servers(small.url()).build()) {
        List<Result> results =
            publisher.publish(
                batch(message(there, "a").payload(new byte[3_000]), message(there, "b")));
        assertThat(results.get(0)).isInstanceOf(Result.Rejected.class);
        assertThat(error(results.get(0))).contains("the server's max_payload is 3000");
        assertThat(results.get(1)).isEqualTo(Result.delivered());
      }
    }
  }

  @Test
  @DisplayName("headers larger than JetStream takes reject their message")
  void headersTooLarge() throws Exception {
    String stream = TestNats.stream(settings -> settings);
    try (NatsPublisher publisher = TestNats.publisher().build()) {
      Result result =
          publishOne(publisher, message(stream, "a").header("h", "\u0001".repeat(15_000)));
      assertThat(result).isInstanceOf(Result.Rejected.class);
      assertThat(error(result)).contains("header size exceeds maximum allowed");
      assertThat(publishOne(publisher, message(stream, "a"))).isEqualTo(Result.delivered());
    }
  }

  @Test
  @DisplayName(
      "to who listens without a stream one message is sent now and then, until there is one")
  void nobodyAcknowledges() throws Exception {
    String silent = TestNats.name();
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    try (NatsPublisher publisher = TestNats.publisher().timeout(Duration.ofSeconds(4)).build();
        Connection listener = TestNats.connect(TestNats.url())) {
      listener
          .createDispatcher(message -> heard.add(message.getSubject()))
          .subscribe(silent + ".>");
      listener.flush(Duration.ofSeconds(30));
      List<StoredMessage> waiting = batch(message(silent, "a"), message(silent, "b"));
      assertThat(publishTo(publisher, waiting, listener, silent, heard)).isEqualTo(2);
      int again = 0;
      while (again == 0) {
        again = publishTo(publisher, waiting, listener, silent, heard);
      }
      assertThat(again).isEqualTo(1);
      TestNats.stream(TestNats.url(), silent, settings -> settings);
      List<StoredMessage> more = new ArrayList<>(waiting);
      more.add(TestMessages.stored(message(silent, "c")));
      List<Result> first =
          await()
              .atMost(Duration.ofMinutes(1))
              .until(() -> publisher.publish(more), some -> some.contains(Result.delivered()));
      assertThat(first)
          .as("no key waits for another call")
          .filteredOn(Result.delivered()::equals)
          .hasSizeGreaterThan(1);
    }
  }

  @Test
  @DisplayName("to who listens to all subjects, one subject without a stream stops none beside it")
  void silentBesideOthers() throws Exception {
    String name = TestNats.name();
    String stream =
        TestNats.stream(TestNats.url(), name, settings -> settings.subjects(name + ".order"));
    try (NatsPublisher publisher =
            TestNats.publisher()
                .destination(Destination.pattern(name + ".{aggregateType}"))
                .build();
        Connection listener = TestNats.connect(TestNats.url())) {
      listener.createDispatcher(message -> {}).subscribe(name + ".>");
      listener.flush(Duration.ofSeconds(30));
      StoredMessage silent = TestMessages.stored(message("invoice", "a"));
      for (String key : List.of("b", "c")) { // the second time the first is still on its way
        List<Result> results =
            publisher.publish(List.of(silent, TestMessages.stored(message("order", key))));
        assertThat(destination(results.get(0))).isEqualTo(name + ".invoice");
        assertThat(results.get(1)).isEqualTo(Result.delivered());
      }
    }
    assertThat(TestNats.read(stream)).hasSize(2);
  }

  @Test
  @DisplayName("a stream that takes longer than a call waits for each message gets each once")
  void slowStream() throws Exception {
    String slow = TestNats.name();
    assertOnce(slow, 2_000, batch(message(slow, "a"), message(slow, "a"), message(slow, "b")));
  }

  @Test
  @DisplayName("a stream that is too slow for all messages of a call gets each once")
  void slowForACall() throws Exception {
    String slow = TestNats.name();
    assertOnce(
        slow,
        700, // less than a call waits for each
        Stream.generate(() -> another(message(slow, "a"))).limit(8).toList());
  }

  /** Publishes until all are delivered, to a stream that takes so long for each. */
  private static void assertOnce(String name, long millis, List<StoredMessage> messages)
      throws Exception {
    List<String> heard = new CopyOnWriteArrayList<>();
    try (NatsPublisher publisher = TestNats.publisher().timeout(Duration.ofSeconds(4)).build();
        Connection stream = TestNats.connect(TestNats.url())) {
      stream
          .createDispatcher(
              message -> {
                heard.add(message.getHeaders().getLast("Nats-Msg-Id"));
                byte[] ack = "{\"stream\": \"slow\", \"seq\": 1}".getBytes(UTF_8);
                CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS)
                    .execute(() -> stream.publish(message.getReplyTo(), ack));
              })
          .subscribe(name + ".*");
      stream.flush(Duration.ofSeconds(30));
      TestMessages.publishUntilDelivered(publisher, messages);
    }
    assertThat(heard)
        .containsExactlyInAnyOrderElementsOf(
            messages.stream().map(message -> message.message().id().toString()).toList());
  }

  /** How many messages the listener got. */
  private static int publishTo(
      NatsPublisher publisher,
      List<StoredMessage> messages,
      Connection listener,
      String silent,
      BlockingQueue<String> heard)
      throws Exception {
    for (Result result : publisher.publish(messages)) {
      assertThat(destination(result)).isEqualTo(silent + ".*");
      assertThat(error(result))
          .containsAnyOf("no acknowledgement, though the server answers", "has not answered yet");
    }
    listener.publish(silent + ".end", new byte[0]);
    int count = 0;
    while (true) {
      String subject = heard.poll(1, TimeUnit.MINUTES);
      assertThat(subject).isNotNull();
      if (subject.endsWith(".end")) {
        return count;
      }
      count++;
    }
  }

  @Test
  @DisplayName("what is no subject rejects its message, and no other")
  void noSubject() throws Exception {
    String stream = TestNats.stream(settings -> settings);
    Destination given = Destination.by(m -> stream + "." + m.message().recordKey());
    try (NatsPublisher publisher = TestNats.publisher().destination(given).build()) {
      List<Result> results =
          publisher.publish(batch(message("order", "a b"), message("order", "c")));
      assertThat(results.get(0)).isInstanceOf(Result.Rejected.class);
      assertThat(error(results.get(0))).contains(stream + ".a b").contains("visible ASCII");
      assertThat(results.get(1)).isEqualTo(Result.delivered());
    }
  }

  // ---- who may do what

  private static EmbeddedNats start(String settings) {
    try {
      return EmbeddedNats.start(settings);
    } catch (UnsupportedOperationException e) {
      throw new TestAbortedException("skipped: " + e.getMessage());
    }
  }

  @Test
  @DisplayName(
      "a wrong password, and missing rights, are unavailable and said without the password")
  void rights() throws Exception {
    String name = TestNats.name();
    String users =
        """
        authorization { users = [
          { user: admin, password: secret }
          { user: relay, password: s3cret, permissions: { publish: ["%s.open.>"] } }
          { user: deaf, password: s3cret, permissions: { subscribe: { deny: ">" } } }
        ] }
        """
            .formatted(name);
    try (EmbeddedNats server = start(users)) {
      String host = server.url().replace("nats://", "");
      TestNats.stream("nats://admin:secret@" + host, name, settings -> settings);
      Destination pattern = Destination.pattern(name + ".{aggregateType}.{recordKey}");
      try (NatsPublisher wrong =
          NatsPublisher.builder().servers("nats://relay:wr0ng@" + host).build()) {
        Result result = publishOne(wrong, message("open", "a"));
        assertThat(destination(result)).isNull();
        assertThat(error(result))
            .containsIgnoringCase("authorization violation")
            .doesNotContain("wr0ng");
        assertThat(wrong.address()).isEqualTo("nats://…@" + host);
        assertThat(wrong.unreachable(Duration.ofSeconds(5)).orElseThrow()).doesNotContain("wr0ng");
      }
      try (NatsPublisher relay =
          NatsPublisher.builder()
              .servers(server.url())
              .options(options -> options.userInfo("relay", "s3cret"))
              .destination(pattern)
              .build()) {
        List<Result> results =
            relay.publish(
                batch(message("open", "a"), message("closed", "b"), message("open", "c")));
        assertThat(results.get(0)).isEqualTo(Result.delivered());
        assertThat(destination(results.get(1))).isEqualTo(name + ".closed.*");
        assertThat(error(results.get(1))).containsIgnoringCase("permissions violation");
        assertThat(results.get(2)).isEqualTo(Result.delivered());
      }
      try (NatsPublisher deaf =
          NatsPublisher.builder()
              .servers("nats://deaf:s3cret@" + host)
              .destination(pattern)
              .build()) {
        Result result = publishOne(deaf, message("open", "d"));
        assertThat(destination(result)).isNull();
        assertThat(error(result))
            .containsIgnoringCase("permissions violation for subscription")
            .doesNotContain("s3cret");
      }
    }
  }

  // ---- outages

  /** A connection to a server that takes nothing for a while, once it was sent a message. */
  public static final class SlowPort extends SocketDataPort {
    private static final Duration PAUSE = Duration.ofSeconds(2);
    private boolean paused;

    @Override
    public void write(byte[] bytes, int length) throws IOException {
      if (length > PAYLOAD && !paused) {
        paused = true;
        LockSupport.parkNanos(PAUSE.toNanos());
      }
      super.write(bytes, length);
    }
  }

  private static final int PAYLOAD = 20_000;

  @Test
  @DisplayName("a server that takes messages too slowly keeps its connection and what it has")
  void slowServer() throws Exception {
    String stream = TestNats.stream(settings -> settings);
    List<StoredMessage> messages = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      messages.add(TestMessages.stored(message(stream, "k" + i).payload(new byte[PAYLOAD])));
    }
    AtomicInteger connections = new AtomicInteger();
    try (NatsPublisher publisher =
        TestNats.publisher()
            .timeout(Duration.ofSeconds(20))
            .options(
                options -> {
                  connections.incrementAndGet();
                  options.maxMessagesInOutgoingQueue(10);
                  options.dataPortType(SlowPort.class.getName());
                })
            .build()) {
      assertThat(publisher.unreachable(Duration.ofSeconds(20))).isEmpty();
      int before = connections.get();
      List<Result> results = publisher.publish(messages);
      assertThat(error(results.get(49))).contains("takes messages too slowly");
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> publisher.publish(messages).stream().allMatch(Result.delivered()::equals));
      assertThat(connections).as("connections").hasValue(before);
    }
    assertThat(TestNats.read(stream)).hasSize(50);
  }

  @Test
  @DisplayName("a server that is not there yet is connected to once it is")
  void startsLater() throws Exception {
    EmbeddedNats server = start("");
    String stream = TestNats.stream(server.url(), TestNats.name(), settings -> settings);
    server.stop();
    try (server;
        NatsPublisher publisher = NatsPublisher.builder().servers(server.url()).build()) {
      Result result = publishOne(publisher, message(stream, "k"));
      assertThat(destination(result)).isNull();
      assertThat(error(result)).contains("no connection to " + server.url(), "Connection refused");
      server.restart();
      await().until(() -> publishOne(publisher, message(stream, "k")).equals(Result.delivered()));
    }
  }

  @Test
  @DisplayName("a closed publisher sends nothing, and its close is no error twice")
  void closed() throws IOException, InterruptedException {
    NatsPublisher publisher = TestNats.publisher().build();
    publisher.close();
    publisher.close();
    assertThat(error(publishOne(publisher, message("t", "k")))).contains("the publisher is closed");
  }
}
