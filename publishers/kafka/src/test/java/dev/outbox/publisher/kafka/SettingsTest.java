package dev.outbox.publisher.kafka;

import static dev.outbox.embedded.TestMessages.destination;
import static dev.outbox.embedded.TestMessages.message;
import static dev.outbox.embedded.TestMessages.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.spi.publisher.Result;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsTest {

  private static KafkaPublisher.Builder builder() {
    return KafkaPublisher.builder().property("bootstrap.servers", "127.0.0.1:1");
  }

  private static ThrowingCallable building(KafkaPublisher.Builder builder) {
    return () -> builder.build().close();
  }

  @ParameterizedTest
  @CsvSource({
    "acks, 1",
    "acks, 0",
    "enable.idempotence, false",
    "partitioner.class, org.apache.kafka.clients.producer.RoundRobinPartitioner",
    "partitioner.ignore.keys, true",
    "max.request.size, 1039999",
    "max.request.size, many",
    "buffer.memory, 1039999",
    "delivery.timeout.ms, 10001",
    "request.timeout.ms, 30000",
    "max.block.ms, 60000",
    "max.in.flight.requests.per.connection, 5",
    "transactional.id, mine",
    "transaction.timeout.ms, 60000",
    "key.serializer, org.apache.kafka.common.serialization.StringSerializer",
    "value.serializer, org.apache.kafka.common.serialization.StringSerializer",
  })
  @DisplayName("a setting that would break the contract is refused by name and value")
  void refused(String name, String value) {
    assertThatThrownBy(building(builder().property(name, value)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name)
        .hasMessageContaining(value);
  }

  @ParameterizedTest
  @CsvSource({
    "acks, all",
    "acks, -1",
    "enable.idempotence, true",
    "max.request.size, 1040000",
    "buffer.memory, 1040000",
    "delivery.timeout.ms, 10000",
    "compression.type, zstd",
    "linger.ms, 5",
  })
  @DisplayName("a setting that does not is taken")
  void taken(String name, String value) {
    assertThatCode(building(builder().property(name, value))).doesNotThrowAnyException();
  }

  @Test
  @DisplayName("a name that DNS does not know is no wrong setting: it may know it later")
  void unknownHost() throws Exception {
    try (KafkaPublisher publisher =
        builder().property("bootstrap.servers", "no-such-broker.invalid:9092").build()) {
      assertThat(publisher.unreachable(Duration.ofSeconds(20)).orElseThrow())
          .contains("no-such-broker.invalid:9092", "No resolvable bootstrap urls");
      assertThat(publisher.publish(List.of(stored(message("t", "k")))))
          .singleElement()
          .isInstanceOfSatisfying(
              Result.Unavailable.class,
              result -> assertThat(result.error()).contains("No resolvable bootstrap urls"));
    }
    assertThatThrownBy(building(builder().property("bootstrap.servers", "no-port.invalid")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no-port.invalid");
  }

  @Test
  @DisplayName("missing brokers and a timeout out of its limits are refused")
  void others() {
    assertThatThrownBy(building(KafkaPublisher.builder()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("bootstrap.servers is missing");
    assertThatThrownBy(building(builder().timeout(Duration.ofMillis(999))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("999ms");
    assertThatThrownBy(building(builder().timeout(Duration.ofHours(2)))).hasMessageContaining("2h");
    assertThatCode(building(builder().timeout(Duration.ofSeconds(1)))).doesNotThrowAnyException();
    assertThatCode(building(builder().timeout(Duration.ofHours(1)))).doesNotThrowAnyException();
  }

  @Test
  @DisplayName("a wrong address is said with the address, and all is unavailable as a whole")
  void wrongAddress() throws Exception {
    try (KafkaPublisher publisher = builder().timeout(Duration.ofSeconds(1)).build()) {
      assertThat(publisher.address()).isEqualTo("127.0.0.1:1");
      assertThat(publisher.publish(List.of(stored(message("t", "a")), stored(message("t", "a")))))
          .hasSize(2)
          .allSatisfy(r -> assertThat(destination(r)).isNull());
      assertThat(publisher.unreachable(Duration.ofSeconds(1)).orElseThrow())
          .contains("127.0.0.1:1")
          .contains("does not answer");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "sasl.jaas.config | PlainLoginModule required username=\"u\" password=\"hunter2secret",
        "sasl.jaas.config | x.y.NoSuchModule hunter2secret password=\"hunter2secret\";",
        "ssl.keystore.key | hunter2secret",
      })
  @DisplayName("no part of a secret is in an error")
  void secrets(String name, String value) {
    KafkaPublisher.Builder builder =
        builder()
            .property("security.protocol", "SASL_SSL")
            .property("sasl.mechanism", "PLAIN")
            .property("ssl.keystore.type", "PEM")
            .property(name, value);
    assertThatThrownBy(building(builder))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Kafka producer could not be made")
        .satisfies(
            e -> {
              StringWriter text = new StringWriter();
              e.printStackTrace(new PrintWriter(text));
              assertThat(text.toString()).doesNotContain("hunter2secret");
            });
  }
}
