package dev.outbox.publisher.kafka;

import static dev.outbox.embedded.TestMessages.destination;
import static dev.outbox.embedded.TestMessages.message;
import static dev.outbox.embedded.TestMessages.publishUntilDelivered;
import static dev.outbox.embedded.TestMessages.stored;
import static dev.outbox.publisher.kafka.TestKafka.publisher;
import static dev.outbox.publisher.kafka.TestKafka.sequences;
import static dev.outbox.publisher.kafka.TestKafka.topic;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.Header;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import io.cloudevents.CloudEvent;
import io.cloudevents.core.builder.CloudEventBuilder;
import io.cloudevents.kafka.KafkaMessageFactory;
import java.net.URI;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What is Kafka's own, beyond the TCK. */
class KafkaPublisherTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private static KafkaPublisher build() {
    return publisher().timeout(TIMEOUT).build();
  }

  /** As when this process's clock is more than the hour ahead that brokers allow by default. */
  @Test
  @DisplayName("a broker that refuses the time of records makes no dead letters, however many")
  void clock() throws Exception {
    String strict = topic(Map.of("message.timestamp.before.max.ms", "0"));
    String other = topic(Map.of());
    try (KafkaPublisher publisher = build()) {
      await("a record that is sent a millisecond before it is looked at")
          .atMost(Duration.ofMinutes(2))
          .until(
              () -> {
                List<Result> results =
                    publisher.publish(
                        List.of(
                            stored(message(strict, "a")),
                            stored(message(strict, "b")),
                            stored(message(other, "c"))));
                assertThat(results)
                    .hasOnlyElementsOfTypes(Result.Delivered.class, Result.Unavailable.class);
                return results.get(2) instanceof Result.Delivered
                    && results.subList(0, 2).stream()
                        .allMatch(
                            result ->
                                result instanceof Result.Unavailable unavailable
                                    && String.valueOf(unavailable.destination())
                                        .startsWith(strict + "/")
                                    && unavailable.error().contains("clock"));
              });
    }
  }

  @Test
  @DisplayName("what the client says of a record's time, alone or among several, blames no message")
  void time() {
    String text = "Timestamp 1 of message with offset 0 is out of range.";
    for (Exception e :
        List.of(new InvalidTimestampException(text), new InvalidRecordException(text))) {
      assertThat(KafkaResults.result(e, Place.topic("orders")))
          .isInstanceOfSatisfying(
              Result.Unavailable.class,
              unavailable -> assertThat(unavailable.destination()).isEqualTo("orders"));
    }
    assertThat(KafkaResults.result(new InvalidRecordException("no key"), Place.topic("orders")))
        .isInstanceOf(Result.Rejected.class);
  }

  @Test
  @DisplayName("a dead topic beside live ones: the first call delivers all of theirs, once each")
  void deadTopic() throws Exception {
    List<String> live = List.of(topic(Map.of()), topic(Map.of()));
    String dead = "dead-" + UUID.randomUUID();
    List<StoredMessage> messages = new ArrayList<>();
    List<Long> toLive = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      StoredMessage message = stored(message(i % 3 == 2 ? dead : live.get(i % 3), "k" + i % 90));
      messages.add(message);
      if (i % 3 != 2) {
        toLive.add(message.sequence());
      }
    }
    try (KafkaPublisher publisher = build()) {
      List<Result> results = publisher.publish(messages);
      for (int i = 0; i < results.size(); i++) {
        if (i % 3 == 2) {
          assertThat(results.get(i)).isInstanceOf(Result.Unavailable.class);
          assertThat(destination(results.get(i))).isEqualTo(dead);
        } else {
          assertThat(results.get(i)).isEqualTo(Result.delivered());
        }
      }
      List<Long> arrived = new ArrayList<>(sequences(live.get(0)));
      arrived.addAll(sequences(live.get(1)));
      assertThat(arrived).containsExactlyInAnyOrderElementsOf(toLive);

      TestKafka.create(TestKafka.bootstrapServers(), dead, Map.of());
      List<StoredMessage> late =
          messages.stream().filter(m -> m.message().aggregateType().equals(dead)).toList();
      publishUntilDelivered(publisher, late);
      assertThat(sequences(dead)).hasSize(late.size());
    }
  }

  @Test
  @DisplayName("a topic that does not acknowledge holds up neither the others nor later calls")
  void slowTopic() throws Exception {
    String live = topic(Map.of());
    String slow = topic(Map.of());
    try (KafkaPublisher publisher = build();
        Admin admin = Admin.create(Map.of("bootstrap.servers", TestKafka.bootstrapServers()))) {
      publisher.publish(List.of(stored(message(live, "a")), stored(message(slow, "k"))));
      // The producer knows its partitions, and waits for a leader of theirs.
      admin.deleteTopics(List.of(slow)).all().get();
      awaitNoLeader(admin, slow);
      StoredMessage first = stored(message(slow, "k"));
      StoredMessage second = stored(message(slow, "k"));

      List<Result> results = publisher.publish(List.of(first, stored(message(live, "a")), second));
      assertThat(results.get(1)).isEqualTo(Result.delivered());
      assertThat(((Result.Delivered) results.get(1)).decision().answer())
          .as("topic, partition and offset")
          .matches(Pattern.quote(live) + "-\\d+@\\d+");
      assertThat(destination(results.get(0))).startsWith(slow);
      assertThat(destination(results.get(2))).startsWith(slow);

      List<Result> again = publisher.publish(List.of(first, stored(message(live, "a"))));
      assertThat(again.get(1)).isEqualTo(Result.delivered());
      assertThat(destination(again.get(0))).startsWith(slow);

      TestKafka.create(TestKafka.bootstrapServers(), slow, Map.of());
      publishUntilDelivered(publisher, List.of(first, second));
      assertThat(sequences(slow).stream().distinct().toList())
          .containsExactly(first.sequence(), second.sequence());
    }
  }

  /** The controller answers before the broker has let go of a topic that is deleted. */
  private static void awaitNoLeader(Admin admin, String topic) {
    await()
        .atMost(Duration.ofMinutes(2))
        .until(
            () -> {
              try {
                var unused =
                    admin
                        .listOffsets(
                            Map.of(new TopicPartition(topic, 0), OffsetSpec.latest()),
                            new ListOffsetsOptions().timeoutMs(1_000))
                        .all()
                        .get();
                return false;
              } catch (ExecutionException e) {
                return true;
              }
            });
  }

  @Test
  @DisplayName("an invalid topic name and no topic are rejected, and the others go on")
  void badTopics() throws Exception {
    String live = topic(Map.of());
    KafkaPublisher.Builder builder =
        publisher()
            .timeout(TIMEOUT)
            .destination(
                Destination.pattern("{aggregateType}").forType("order", "shop.{header.tenant}"));
    try (KafkaPublisher publisher = builder.build()) {
      List<Result> results =
          publisher.publish(
              List.of(
                  stored(message("not a topic!", "a")),
                  stored(message("order", "none")),
                  stored(message(live, "b"))));
      assertThat(results.get(0))
          .isEqualTo(
              Result.rejected(
                  "'not a topic!' cannot be a topic: Kafka takes 1 to 249 of a-z, A-Z, 0-9, '.', '_' and '-', and not '.' or '..'; give messages of this aggregate type another destination"));
      assertThat(results.get(1))
          .isInstanceOfSatisfying(
              Result.Rejected.class,
              r -> assertThat(r.error()).contains("shop.{header.tenant} needs the header tenant"));
      assertThat(results.get(2)).isEqualTo(Result.delivered());
    }
  }

  @Test
  @DisplayName("what is around each send sees its message, and runs in the thread that publishes")
  void aroundSend() throws Exception {
    String topic = topic(Map.of());
    List<StoredMessage> messages = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      messages.add(stored(message(topic, "k" + i % 7)));
    }
    List<StoredMessage> around = new ArrayList<>();
    Thread caller = Thread.currentThread();
    try (KafkaPublisher publisher =
        publisher()
            .timeout(TIMEOUT)
            .aroundSend(
                (message, send) -> {
                  assertThat(Thread.currentThread()).isSameAs(caller);
                  around.add(message);
                  send.run();
                })
            .build()) {
      assertThat(publisher.publish(messages)).containsOnly(Result.delivered());
    }
    assertThat(around).containsAll(messages);
  }

  @Test
  @DisplayName("a CloudEvent is read by the CloudEvents SDK as what was appended")
  void cloudEvent() throws Exception {
    String topic = topic(Map.of());
    StoredMessage message =
        stored(
            message(topic, "a")
                .aggregateId("4711")
                .header(Header.DATA_SCHEMA, "https://shop.example/schemas/happened")
                .payload("{\"total\": 12.50}"));
    URI source = URI.create("https://shop.example/orders");
    try (KafkaPublisher publisher = publisher().cloudEvents(source).build()) {
      assertThat(publisher.publish(List.of(message))).containsExactly(Result.delivered());
    }
    ConsumerRecord<byte[], byte[]> record = TestKafka.read(Set.of(topic)).get(0);
    CloudEvent event = KafkaMessageFactory.createReader(record).toEvent();
    assertThat(event)
        .isEqualTo(
            CloudEventBuilder.v1()
                .withId(message.message().id().toString())
                .withSource(source)
                .withType("Happened")
                .withSubject("4711")
                .withTime(message.createdAt().atOffset(ZoneOffset.UTC))
                .withDataContentType("application/json")
                .withDataSchema(URI.create("https://shop.example/schemas/happened"))
                .withExtension("partitionkey", "a")
                .withData(message.message().payload())
                .build());
  }

  @Test
  @DisplayName("after close all is unavailable")
  void closed() throws Exception {
    KafkaPublisher publisher = build();
    publisher.close();
    assertThat(publisher.publish(List.of(stored(message("t", "a")))))
        .allSatisfy(r -> assertThat(destination(r)).isNull());
  }
}
