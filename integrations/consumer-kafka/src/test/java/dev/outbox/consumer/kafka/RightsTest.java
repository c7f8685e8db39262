package dev.outbox.consumer.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.consumer.kafka.ConsumerStatus.State;
import dev.outbox.embedded.EmbeddedKafka;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** On a broker that lets nobody in without being told to. */
class RightsTest {
  private static final String TOPIC = "order";
  private static final String GROUP = "shipping";

  private final List<ConsumerStatus> told = new CopyOnWriteArrayList<>();

  private static ConditionFactory patiently() {
    return await().atMost(Duration.ofMinutes(1));
  }

  @Test
  @DisplayName("a consumer without rights waits for them, says so once, and goes on")
  void rights() throws Exception {
    try (EmbeddedKafka kafka =
            EmbeddedKafka.builder()
                .scram()
                .setting(
                    "authorizer.class.name",
                    "org.apache.kafka.metadata.authorizer.StandardAuthorizer")
                .setting("super.users", "User:ANONYMOUS") // who has not logged in, as the test
                .start();
        Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()));
        Effects effects = Effects.migrated(Servers.schema())) {
      admin.createTopics(List.of(new NewTopic(TOPIC, 1, (short) 1))).all().get();
      Servers.send(kafka.bootstrapServers(), TOPIC, 0, List.of("a", "b"));
      try (KafkaInboxConsumer<?, ?, ?> consumer =
          effects
              .consumer(user(Servers.settings(kafka.scramBootstrapServers(), GROUP)), TOPIC)
              .firstDelay(Duration.ofMillis(1))
              .maxDelay(Duration.ofMillis(50))
              .listener(told::add)
              .build()) {
        new Thread(consumer, "test-rights").start();
        awaitWaiting(SaslAuthenticationException.class);
        makeUser(admin);
        awaitWaiting(GroupAuthorizationException.class);
        change(admin, true, ResourceType.GROUP, GROUP);
        awaitWaiting(TopicAuthorizationException.class);
        change(admin, true, ResourceType.TOPIC, TOPIC);
        patiently().until(() -> effects.ids().equals(List.of("a", "b")));
        awaitState(consumer, State.RUNNING);

        told.clear();
        change(admin, false, ResourceType.TOPIC, TOPIC);
        awaitWaiting(TopicAuthorizationException.class);
        Servers.send(kafka.bootstrapServers(), TOPIC, 0, List.of("c"));
        change(admin, true, ResourceType.TOPIC, TOPIC);
        patiently().until(() -> effects.ids().equals(List.of("a", "b", "c")));
        awaitState(consumer, State.RUNNING);
        assertThat(told).map(ConsumerStatus::state).containsExactly(State.WAITING, State.RUNNING);
      }
      KafkaConsumer<String, String> giving =
          user(Servers.newProtocol(kafka.scramBootstrapServers(), GROUP));
      try (KafkaInboxConsumer<?, ?, ?> consumer = effects.consumer(giving, TOPIC).build()) {
        CompletableFuture<Void> running = CompletableFuture.runAsync(consumer);
        awaitState(consumer, State.RUNNING);
        change(admin, false, ResourceType.GROUP, GROUP);
        assertThatThrownBy(() -> running.get(1, TimeUnit.MINUTES))
            .hasCauseInstanceOf(GroupAuthorizationException.class);
        assertThat(consumer.status().state()).isEqualTo(State.FAILED);
      }
    }
  }

  private static void awaitState(KafkaInboxConsumer<?, ?, ?> consumer, State state) {
    patiently().until(() -> consumer.status().state() == state);
  }

  private void awaitWaiting(Class<? extends Exception> error) {
    patiently()
        .until(
            () ->
                !told.isEmpty()
                    && told.get(told.size() - 1).state() == State.WAITING
                    && error.isInstance(told.get(told.size() - 1).error()));
  }

  private static KafkaConsumer<String, String> user(Map<String, Object> given) {
    Map<String, Object> settings = new HashMap<>(given);
    settings.put("security.protocol", "SASL_PLAINTEXT");
    settings.put("sasl.mechanism", "SCRAM-SHA-256");
    settings.put(
        "sasl.jaas.config",
        "org.apache.kafka.common.security.scram.ScramLoginModule required username=app password=s3cret;");
    return new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
  }

  private static void makeUser(Admin admin) throws Exception {
    ScramCredentialInfo scram = new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096);
    admin
        .alterUserScramCredentials(
            List.of(new UserScramCredentialUpsertion("app", scram, "s3cret")))
        .all()
        .get();
  }

  private static void change(Admin admin, boolean allow, ResourceType type, String name)
      throws Exception {
    AclBinding right =
        new AclBinding(
            new ResourcePattern(type, name, PatternType.LITERAL),
            new AccessControlEntry("User:app", "*", AclOperation.READ, AclPermissionType.ALLOW));
    if (allow) {
      admin.createAcls(List.of(right)).all().get();
    } else {
      admin.deleteAcls(List.of(right.toFilter())).all().get();
    }
  }
}
