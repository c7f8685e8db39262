package dev.outbox.publisher.kafka;

import static dev.outbox.embedded.TestMessages.destination;
import static dev.outbox.embedded.TestMessages.message;
import static dev.outbox.embedded.TestMessages.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.embedded.EmbeddedKafka;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A publisher that is there before its user is, and before its topic. */
class LateUserTest {
  private static final String PASSWORD = "late-7";

  @Test
  @DisplayName("a user made after the publisher started is served, and the broker makes its topic")
  void late() throws Exception {
    try (EmbeddedKafka kafka =
            EmbeddedKafka.builder().setting("auto.create.topics.enable", "true").scram().start();
        KafkaPublisher publisher =
            KafkaPublisher.builder()
                .property("bootstrap.servers", kafka.scramBootstrapServers())
                .property("security.protocol", "SASL_PLAINTEXT")
                .property("sasl.mechanism", "SCRAM-SHA-256")
                .property(
                    "sasl.jaas.config",
                    "org.apache.kafka.common.security.scram.ScramLoginModule required"
                        + " username=\"late\" password=\"%s\";".formatted(PASSWORD))
                .timeout(Duration.ofSeconds(8))
                .build()) {
      StoredMessage message = stored(message("t", "k"));
      for (int i = 0; i < 3; i++) {
        assertThat(publisher.publish(List.of(message)))
            .allSatisfy(r -> assertThat(destination(r)).isNull());
      }
      assertThat(publisher.unreachable(Duration.ofMinutes(1)).orElseThrow())
          .contains("does not let us in")
          .contains(kafka.scramBootstrapServers())
          .doesNotContain(PASSWORD);

      addUser(kafka);
      await()
          .atMost(Duration.ofMinutes(3))
          .until(() -> publisher.publish(List.of(message)).contains(Result.delivered()));
      assertThat(publisher.unreachable(Duration.ofMinutes(1))).isEmpty();
    }
  }

  private static void addUser(EmbeddedKafka kafka) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()))) {
      admin
          .alterUserScramCredentials(
              List.of(
                  new UserScramCredentialUpsertion(
                      "late",
                      new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096),
                      PASSWORD)))
          .all()
          .get();
    }
  }
}
