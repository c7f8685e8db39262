package dev.outbox.tck.publisher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.InThread;
import dev.outbox.tck.internal.Sentence;
import dev.outbox.tck.publisher.PublisherTck.Attribute;
import dev.outbox.tck.publisher.PublisherTck.BrokerCrashes;
import dev.outbox.tck.publisher.PublisherTck.BrokerHangs;
import dev.outbox.tck.publisher.PublisherTck.BrokerRejects;
import dev.outbox.tck.publisher.PublisherTck.DestinationNotDurable;
import dev.outbox.tck.publisher.PublisherTck.Received;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** P1, P2 and P4: what a publisher answers, in which order messages arrive, and what of them. */
@Rule("P1")
abstract class PublisherResultTests extends PublisherTests {
  private static final String UNICODE = "Grüße, 世界 😀 ";
  private static final int MANY = 300;
  private static final int WORKERS = 4;
  private static final int CALLS = 10;

  private static void checkNotThrown(Published published) {
    Throwable thrown = published.thrown();
    if (thrown != null) {
      throw new AssertionError(
          "publish threw %s for messages that nothing is wrong with".formatted(thrown), thrown);
    }
  }

  @Sentence("one result a message, and what is delivered is at the broker by then")
  void delivered() {
    Published published = tck.publish(tck.many(MANY, "k", 40)).inTime();
    checkNotThrown(published);
    check(published.notThere(PatientPublisher.ids(tck.receive())));
    checkDelivered(published);
  }

  @Sentence("calls of several threads at once have each their own results")
  void workersAtOnce() {
    List<PatientPublisher.Publishing> running = new ArrayList<>();
    List<Published> published = new ArrayList<>();
    for (int call = 0; call < CALLS; call++) {
      for (int worker = 0; worker < WORKERS; worker++) {
        running.add(
            tck.start(
                tck.publisher(),
                "while other threads called publish too",
                tck.many(10 + 5 * worker, "w" + worker + "-", 40)));
      }
      running.forEach(publishing -> published.add(publishing.await()));
      running.clear();
    }
    List<String> arrived = PatientPublisher.ids(tck.receive());
    for (Published one : published) {
      checkNotThrown(one.inTime());
      check(one.notThere(arrived));
    }
  }

  @Sentence("a call's results stay what they were when the next call is made")
  void resultsStay() {
    BrokerRejects broker = tck.fixture(BrokerRejects.class);
    tck.publish(PublisherFrame.BESIDE_REJECTED, besideOne(broker)).inTime();
    List<StoredMessage> two = tck.batch(tck.message("a"), tck.message("b"));
    List<Result> first = tck.start(tck.publisher(), PublisherFrame.WELL, two).given();
    List<Result> before = List.copyOf(first);
    tck.publish(PublisherFrame.BESIDE_REJECTED, besideOne(broker));
    check(
        first.equals(before),
        "the results of a call were %s, and %s after the next call: each call returns a list of its own",
        before,
        first);
  }

  private List<StoredMessage> besideOne(BrokerRejects broker) {
    return tck.batch(broker.rejected(tck.message("bad")), tck.message("good"));
  }

  @Sentence("each has its own result, where some are refused, or have no destination, anywhere")
  void resultsBesideBad() {
    eachBeside(
        beside -> {
          Published published = beside.published().inTime();
          check(published.notThere(beside.arrived()));
          check(published.blamed("good", beside.arrived()));
        });
  }

  @Sentence("what a destination took and did not make durable is not delivered")
  void notDurable() {
    DestinationNotDurable broker = tck.fixture(DestinationNotDurable.class);
    Published published =
        tck.publish(
            "to a destination that cannot make it durable",
            tck.batch(broker.toNotDurable(tck.message("k"))));
    check(published.inTime().miscounted());
    check(
        !published.delivered(0),
        "message 1 was reported delivered by a destination that cannot make it durable now: wait for the acknowledgement of all replicas that there have to be");
  }

  @Sentence("nothing is delivered while the broker is away")
  void notDeliveredInAnOutage() {
    eachOutage(outage -> check(outage.during().inTime().notThere(List.of())));
  }

  // ---- order

  @Rule("P2")
  @Sentence("messages of a key arrive in their order, call after call")
  void inOrder() {
    List<StoredMessage> all = new ArrayList<>();
    for (int call = 0; call < 5; call++) {
      List<StoredMessage> messages = tck.many(60, "k", 7);
      Published.because("P1", tck.publishUntilDelivered(messages));
      all.addAll(messages);
    }
    List<Received> received = tck.await(r -> r.size() >= all.size());
    check(outOfOrder(all, PatientPublisher.ids(received)));
  }

  @Rule("P2")
  @Sentence("after one that is rejected or has no destination no later one of its key arrives")
  void stops() {
    eachBeside(
        beside -> check(beside.published().honest(beside.arrived()).passedBy(beside.arrived())));
  }

  @Rule("P2")
  @Sentence("messages that waited while the broker was away arrive in their order")
  void orderAfterAnOutage() {
    eachOutage(
        outage -> {
          Published during = outage.during().honest(List.of());
          Published.because("P3", outage.late());
          check(outOfOrder(during.messages(), outage.arrived()));
        });
  }

  @Rule("P1")
  @Sentence("what was delivered is still there after the broker has crashed")
  void survivesCrash() {
    BrokerCrashes broker = tck.fixture(BrokerCrashes.class);
    Published published =
        tck.publish(
            "before the broker crashed",
            tck.batch(tck.message("a"), tck.message("b"), tck.message("a")));
    broker.killBroker();
    broker.startBroker();
    check(published.inTime().notThere(PatientPublisher.ids(tck.receive())));
  }

  @Rule({"P1", "P2"})
  @Sentence("when the broker crashes during a call, nothing delivered is lost, and keys in order")
  void crashDuringCall() {
    BrokerCrashes broker = tck.fixture(BrokerCrashes.class);
    duringCall("while the broker crashed", broker::killBroker, broker::startBroker);
  }

  @Rule({"P1", "P2"})
  @Sentence("when the broker hangs during a call, nothing delivered is lost, and keys in order")
  void hangDuringCall() {
    BrokerHangs broker = tck.fixture(BrokerHangs.class);
    duringCall("while the broker began to hang", broker::pauseBroker, broker::resumeBroker);
  }

  private void duringCall(String when, Runnable begin, Runnable end) {
    AtomicBoolean begun = new AtomicBoolean();
    List<StoredMessage> first = tck.many(500, "k", 23);
    InThread<List<Published>> publishing =
        new InThread<>("publisher tck", () -> publishUntil(begun, when, first));
    List<Published> calls;
    try {
      begin.run();
    } finally {
      begun.set(true);
      calls = publishing.join();
    }
    end.run();
    for (Published call : calls) {
      check("P1", call.inTime().miscounted());
    }
    Published.because("P3", tck.publishUntilDelivered(last(calls).undelivered()));
    List<StoredMessage> all = calls.stream().flatMap(call -> call.messages().stream()).toList();
    List<String> arrived = PatientPublisher.ids(tck.receive());
    for (Published call : calls) {
      check("P1", call.notThere(arrived));
    }
    check(outOfOrder(all, arrived));
  }

  /** Call after call, until one has not delivered all. */
  private List<Published> publishUntil(
      AtomicBoolean begun, String when, List<StoredMessage> first) {
    List<Published> calls = new ArrayList<>();
    List<StoredMessage> next = first;
    do {
      calls.add(tck.publish(when, next));
      next = tck.many(500, "k", 23);
    } while (!begun.get() && last(calls).undelivered().isEmpty());
    return calls;
  }

  private static Published last(List<Published> calls) {
    return calls.get(calls.size() - 1);
  }

  /** That first deliveries of a key are out of order. */
  private static @Nullable String outOfOrder(List<StoredMessage> sent, List<String> arrived) {
    Map<String, Set<String>> keys = new LinkedHashMap<>();
    for (StoredMessage message : sent) {
      keys.computeIfAbsent(message.key(), k -> new LinkedHashSet<>()).add(Published.id(message));
    }
    for (Map.Entry<String, Set<String>> key : keys.entrySet()) {
      List<String> expected = List.copyOf(key.getValue());
      List<String> came = arrived.stream().distinct().filter(key.getValue()::contains).toList();
      if (!came.equals(expected)) {
        return "the messages of key \"%s\" came %s instead of %s"
            .formatted(key.getKey(), words(came, sent), words(expected, sent));
      }
    }
    return null;
  }

  private static String words(List<String> some, List<StoredMessage> sent) {
    List<String> ids = sent.stream().map(Published::id).toList();
    return some.isEmpty()
        ? "not at all"
        : some.stream().map(id -> "" + (ids.indexOf(id) + 1)).collect(Collectors.joining(", "));
  }

  // ---- what arrives

  @Rule("P4")
  @Sentence("every field arrives, Unicode and binary payloads included")
  void everything() {
    byte[] payload = new byte[256];
    for (int i = 0; i < payload.length; i++) {
      payload[i] = (byte) i;
    }
    assertArrives(
        tck.message("aggregate " + UNICODE)
            .eventType("type " + UNICODE)
            .partitionKey("key " + UNICODE)
            .payload(payload)
            .contentType("application/octet-stream")
            .dedupKey("dedup " + UNICODE)
            .correlationId("correlation " + UNICODE)
            .header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
            .header("tracestate", "vendor=value")
            .header("Name", "upper case")
            .header("name", UNICODE)
            .header("name", "")
            .header("name " + UNICODE, "third")
            .header("name", "fourth"));
  }

  @Rule("P4")
  @Sentence("a message with the least of everything arrives, and nothing that it has not")
  void least() {
    assertArrives(tck.message("k").payload(new byte[0]));
  }

  @Rule("P4")
  @Sentence("the largest message arrives")
  void largest() {
    String text = "\uD83D\uDE00".repeat(OutboxMessage.MAX_TEXT);
    String name = "h".repeat(100);
    assertArrives(
        tck.message(text)
            .eventType(text)
            .partitionKey(text)
            .contentType(text)
            .dedupKey(text)
            .correlationId(text)
            .header(name, "x".repeat(OutboxMessage.MAX_HEADERS - name.length()))
            .payload(new byte[OutboxMessage.MAX_PAYLOAD]));
  }

  @Rule("P4")
  @Sentence("line breaks, separators and blanks at the ends arrive, and a hundred headers")
  void characters() {
    String text = " \t\r\nX-Fake: 1\r\n\r\n\"'`\\%41%zz+&=?#/;:,.*>{}[]|~\u007f\u0085\u2028\u0001 ";
    OutboxMessage.Builder message =
        tck.message("aggregate" + text)
            .eventType("type" + text)
            .partitionKey(text + "key" + text)
            .contentType("text/plain; charset=\"utf-8\"")
            .dedupKey("dedup" + text)
            .correlationId(text + "correlation")
            .header("name" + text, text)
            .header("blank", " ")
            .header("empty", "");
    for (int i = 4; i <= OutboxMessage.MAX_HEADER_COUNT; i++) {
      message.header("header" + i, "value " + i);
    }
    assertArrives(message);
  }

  private void assertArrives(OutboxMessage.Builder builder) {
    StoredMessage sent = tck.stored(builder);
    checkDelivered(tck.publish(List.of(sent)).counted());
    List<Received> received = tck.await(r -> !r.isEmpty());
    assertThat(received).as("what arrived of one message").hasSize(1);
    Received came = received.get(0);
    OutboxMessage message = sent.message();
    assertThat(came.key()).as("the key that arrived").isEqualTo(message.recordKey());
    assertThat(came.payload()).as("the payload that arrived").isEqualTo(message.payload());
    Map<Attribute, String> arrived = attributes(came);
    Map<Attribute, String> given =
        attributes(Received.of(null, new byte[0], List.of()).about(sent));
    assertThat(arrived.keySet()).as("which attributes arrived").isEqualTo(given.keySet());
    given.forEach(
        (attribute, value) ->
            assertThat(arrived.get(attribute))
                .as("the attribute %s that arrived", attribute)
                .isEqualTo(value));
    if (!message.headers().isEmpty()) {
      assertThat(came.headers())
          .as("the message's own headers, in their order and with repeats")
          .containsSubsequence(message.headers());
    }
  }

  /** With CREATED_AT in one form, if it is a time. */
  private static Map<Attribute, String> attributes(Received received) {
    Map<Attribute, String> attributes = new EnumMap<>(Attribute.class);
    attributes.putAll(received.attributes());
    attributes.computeIfPresent(
        Attribute.CREATED_AT,
        (attribute, text) -> {
          try {
            return Instant.parse(text).toString();
          } catch (DateTimeParseException e) {
            return text;
          }
        });
    return attributes;
  }
}
