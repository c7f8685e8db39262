package dev.outbox.publisher.kafka;

import static dev.outbox.embedded.TestMessages.destination;
import static dev.outbox.embedded.TestMessages.message;
import static dev.outbox.embedded.TestMessages.publishUntilDelivered;
import static dev.outbox.embedded.TestMessages.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.embedded.EmbeddedKafka;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A broker that asks who is there, and who may write where. */
class RightsTest {
  private static final String PASSWORD = "rights-7";

  private static EmbeddedKafka kafka;
  private static Admin admin;
  private KafkaPublisher publisher;

  @BeforeAll
  static void start() {
    kafka =
        EmbeddedKafka.builder()
            .setting("auto.create.topics.enable", "true")
            .setting(
                "authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer")
            .setting("super.users", "User:ANONYMOUS;User:late")
            .scram()
            .start();
    admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()));
  }

  @AfterAll
  static void stop() {
    admin.close();
    kafka.close();
  }

  @AfterEach
  void close() {
    publisher.close();
  }

  /** Publishes as a user, who need not be there yet. */
  private void login(String user) {
    publisher =
        KafkaPublisher.builder()
            .property("bootstrap.servers", kafka.scramBootstrapServers())
            .property("security.protocol", "SASL_PLAINTEXT")
            .property("sasl.mechanism", "SCRAM-SHA-256")
            .property(
                "sasl.jaas.config",
                "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"%s\" password=\"%s\";"
                    .formatted(user, PASSWORD))
            .timeout(Duration.ofSeconds(8))
            .build();
  }

  private static void addUser(String user) throws Exception {
    admin
        .alterUserScramCredentials(
            List.of(
                new UserScramCredentialUpsertion(
                    user, new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096), PASSWORD)))
        .all()
        .get();
  }

  private static void topic(String name) {
    TestKafka.create(kafka.bootstrapServers(), name, Map.of());
  }

  private static AclBinding right(String user, String topic, AclOperation operation) {
    return new AclBinding(
        new ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL),
        new AccessControlEntry("User:" + user, "*", operation, AclPermissionType.ALLOW));
  }

  private static void grant(String user, String topic, AclOperation operation)
      throws ExecutionException, InterruptedException {
    admin.createAcls(List.of(right(user, topic, operation))).all().get();
  }

  private static List<Long> sequences(String topic) {
    return TestKafka.read(kafka.bootstrapServers(), List.of(topic)).stream()
        .map(r -> Long.valueOf(TestKafka.header(r, "outbox-sequence")))
        .distinct()
        .toList();
  }

  @Test
  @DisplayName("a user made after the publisher started is served, and the broker makes its topic")
  void late() throws Exception {
    login("late");
    StoredMessage message = stored(message("t", "k"));
    for (int i = 0; i < 3; i++) {
      assertThat(publisher.publish(List.of(message)))
          .allSatisfy(r -> assertThat(destination(r)).isNull());
    }
    assertThat(publisher.unreachable(Duration.ofMinutes(1)).orElseThrow())
        .contains("does not let us in")
        .contains(kafka.scramBootstrapServers())
        .doesNotContain(PASSWORD);

    addUser("late");
    await()
        .atMost(Duration.ofMinutes(3))
        .until(() -> publisher.publish(List.of(message)).contains(Result.delivered()));
    assertThat(publisher.unreachable(Duration.ofMinutes(1))).isEmpty();
  }

  @Test
  @DisplayName(
      "of many topics those that we may not write to wait, in order; all others are served")
  void someTopics() throws Exception {
    addUser("some");
    login("some");
    List<StoredMessage> waiting = new ArrayList<>();
    List<StoredMessage> served = new ArrayList<>();
    for (String name : List.of("hidden", "seen", "open-1", "open-2", "open-3")) {
      topic(name);
      boolean open = name.startsWith("open");
      if (!name.equals("hidden")) {
        grant("some", name, open ? AclOperation.WRITE : AclOperation.DESCRIBE);
      }
      for (int i = 0; i < 20; i++) {
        (open ? served : waiting).add(stored(message(name, name + i % 3)));
      }
    }
    publishUntilDelivered(publisher, served); // until the broker knows of the rights
    List<StoredMessage> all = new ArrayList<>(waiting);
    all.addAll(served);
    for (int call = 0; call < 3; call++) {
      List<Result> results = publisher.publish(all);
      for (int i = 0; i < all.size(); i++) {
        Result result = results.get(i);
        if (i >= waiting.size()) {
          assertThat(result).isEqualTo(Result.delivered());
        } else {
          assertThat(destination(result)).startsWith(all.get(i).message().aggregateType());
        }
      }
    }
    assertThat(sequences("seen")).isEmpty();
    for (String name : List.of("hidden", "seen")) {
      grant("some", name, AclOperation.WRITE);
    }
    publishUntilDelivered(publisher, waiting);
    for (String name : List.of("hidden", "seen")) {
      assertInOrder(waiting, name);
    }
  }

  /** Of each key. */
  private static void assertInOrder(List<StoredMessage> messages, String topic) {
    List<Long> arrived = sequences(topic);
    for (int i = 0; i < 3; i++) {
      String key = topic + i;
      List<Long> ofKey =
          messages.stream().filter(m -> m.key().equals(key)).map(StoredMessage::sequence).toList();
      assertThat(arrived.stream().filter(ofKey::contains).toList()).isEqualTo(ofKey);
    }
  }

  @Test
  @DisplayName("who may write nowhere is served as soon as that is allowed")
  void nowhere() throws Exception {
    addUser("nobody");
    login("nobody");
    topic("later");
    List<StoredMessage> messages =
        List.of(stored(message("later", "later0")), stored(message("later", "later0")));
    for (int call = 0; call < 3; call++) {
      assertThat(publisher.publish(messages)).hasOnlyElementsOfType(Result.Unavailable.class);
    }
    grant("nobody", "later", AclOperation.DESCRIBE);
    for (int call = 0; call < 3; call++) {
      assertThat(publisher.publish(messages)).hasOnlyElementsOfType(Result.Unavailable.class);
    }
    grant("nobody", "later", AclOperation.WRITE);
    publishUntilDelivered(publisher, messages);
    assertInOrder(messages, "later");
  }

  @Test
  @DisplayName("a right that is taken away in the middle loses nothing, and breaks no order")
  void takenAway() throws Exception {
    addUser("once");
    login("once");
    topic("once");
    grant("once", "once", AclOperation.WRITE);
    List<StoredMessage> messages = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      messages.add(stored(message("once", "once" + i % 3)));
    }
    publishUntilDelivered(publisher, messages.subList(0, 10));
    admin.deleteAcls(List.of(right("once", "once", AclOperation.WRITE).toFilter())).all().get();
    List<StoredMessage> rest = new ArrayList<>(messages.subList(10, 30));
    while (publisher.publish(rest.subList(0, 1)).get(0) instanceof Result.Delivered) {
      rest.remove(0); // until the broker knows of it
    }
    assertThat(publisher.publish(rest)).hasOnlyElementsOfType(Result.Unavailable.class);
    grant("once", "once", AclOperation.WRITE);
    publishUntilDelivered(publisher, rest);
    assertInOrder(messages, "once");
  }
}
