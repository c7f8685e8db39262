package dev.outbox.publisher.kafka;

import static dev.outbox.embedded.TestMessages.destination;
import static dev.outbox.embedded.TestMessages.message;
import static dev.outbox.embedded.TestMessages.publishUntilDelivered;
import static dev.outbox.embedded.TestMessages.stored;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.embedded.EmbeddedKafka;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Two real brokers, of which one stops answering and is not known to be gone. */
class FrozenBrokerTest {
  private static final int ROUNDS = 10;

  private static EmbeddedKafka healthy;
  private static EmbeddedKafka freezes;

  @BeforeAll
  static void start() throws Exception {
    healthy =
        EmbeddedKafka.builder()
            .setting("broker.session.timeout.ms", "3600000")
            .setting("auto.create.topics.enable", "false")
            .start();
    freezes = EmbeddedKafka.builder().joining(healthy).start();
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", healthy.bootstrapServers()))) {
      admin
          .createTopics(
              List.of(
                  new NewTopic("U", Map.of(0, List.of(healthy.node()))),
                  new NewTopic("T", Map.of(0, List.of(freezes.node()))),
                  new NewTopic(
                      "both", Map.of(0, List.of(healthy.node()), 1, List.of(freezes.node())))))
          .all()
          .get();
    }
  }

  @AfterAll
  static void stop() {
    freezes.close();
    healthy.close();
  }

  @AfterEach
  void resume() {
    healthy.resume();
    freezes.resume();
  }

  /** One that has published to each of the two. */
  private static KafkaPublisher publisher(Duration timeout) throws Exception {
    KafkaPublisher publisher =
        KafkaPublisher.builder()
            .property(
                "bootstrap.servers", healthy.bootstrapServers() + "," + freezes.bootstrapServers())
            .timeout(timeout)
            .partition((m, partitions) -> m.key().equals("frozen") ? partitions - 1 : 0)
            .build();
    publishUntilDelivered(
        publisher,
        List.of(
            stored(message("U", "a")),
            stored(message("T", "frozen")),
            stored(message("both", "a")),
            stored(message("both", "frozen"))));
    return publisher;
  }

  @Test
  @DisplayName(
      "what goes to the others is delivered each time, and only the frozen ones are blamed")
  void frozen() throws Exception {
    try (KafkaPublisher publisher = publisher(Duration.ofSeconds(20))) {
      frozen(publisher);
    }
  }

  private static void frozen(KafkaPublisher publisher) throws Exception {
    freezes.pause();
    List<StoredMessage> frozen = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      frozen.add(stored(message(round % 2 == 0 ? "T" : "both", "frozen")));
      List<StoredMessage> ofT = List.copyOf(frozen.subList(0, 1));
      assertThat(publishUntilOneAnswers(publisher, ofT))
          .allSatisfy(r -> assertThat(destination(r)).isEqualTo("T/0"));

      List<StoredMessage> mixed = new ArrayList<>(frozen);
      mixed.add(stored(message("U", "u" + round)));
      mixed.add(stored(message("both", "b" + round)));
      List<Result> results = publishUntilOneAnswers(publisher, mixed);
      assertThat(results.subList(frozen.size(), results.size())).containsOnly(Result.delivered());
      assertThat(results.subList(0, frozen.size()))
          .allSatisfy(r -> assertThat(destination(r)).isIn("T/0", "both/1"));
    }
    freezes.resume();
    publishUntilDelivered(publisher, frozen);
    String all = healthy.bootstrapServers();
    List<Long> arrived =
        TestKafka.read(all, List.of("T", "both")).stream()
            .map(r -> Long.valueOf(TestKafka.header(r, "outbox-sequence")))
            .filter(frozen.stream().map(StoredMessage::sequence).toList()::contains)
            .distinct()
            .toList();
    for (String topic : List.of("T", "both")) {
      List<Long> sent =
          frozen.stream()
              .filter(m -> m.message().aggregateType().equals(topic))
              .map(StoredMessage::sequence)
              .toList();
      assertThat(arrived.stream().filter(sent::contains).toList()).isEqualTo(sent);
    }
  }

  /** On a busy machine the healthy one may not answer in time either. */
  private static List<Result> publishUntilOneAnswers(
      KafkaPublisher publisher, List<StoredMessage> messages) throws InterruptedException {
    List<Result> results = publisher.publish(messages);
    for (int tries = 1;
        tries < 5 && results.stream().anyMatch(FrozenBrokerTest::isOfAll);
        tries++) {
      results = publisher.publish(messages);
    }
    return results;
  }

  private static boolean isOfAll(Result result) {
    return result instanceof Result.Unavailable unavailable && unavailable.destination() == null;
  }

  @Test
  @DisplayName("when no broker answers any more, it is the cluster as a whole")
  void allFrozen() throws Exception {
    try (KafkaPublisher publisher = publisher(Duration.ofSeconds(8))) {
      freezes.pause();
      healthy.pause();
      for (int i = 0; i < 2; i++) {
        assertThat(
                publisher.publish(
                    List.of(stored(message("T", "frozen")), stored(message("U", "u" + i)))))
            .allSatisfy(r -> assertThat(destination(r)).as("%s", r).isNull())
            .allSatisfy(
                r ->
                    assertThat(((Result.Unavailable) r).error())
                        .contains(healthy.bootstrapServers()));
      }
      assertThat(publisher.unreachable(Duration.ofSeconds(5)).orElseThrow())
          .contains(healthy.bootstrapServers())
          .contains("does not answer");
      healthy.resume();
      publishUntilDelivered(publisher, List.of(stored(message("U", "u"))));
      assertThat(publisher.unreachable(Duration.ofSeconds(60))).isEmpty();
    }
  }
}
