package dev.outbox.embedded;

import java.util.Map;
import java.util.Optional;

/** A Kafka cluster for tests. */
public interface KafkaServer extends AutoCloseable {

  /** For {@code bootstrap.servers}. */
  String bootstrapServers();

  /** The embedded broker, when it is one: that one can be killed, paused and restarted. */
  default Optional<EmbeddedKafka> embedded() {
    return this instanceof EmbeddedKafka ours ? Optional.of(ours) : Optional.empty();
  }

  /** Ends what was started for the test; a cluster of the user's own stays as it is. */
  @Override
  default void close() {}

  /** {@link #forTests(Map)} without settings. */
  static KafkaServer forTests() {
    return forTests(Map.of());
  }

  /**
   * The user's own cluster when the property {@code outbox.test.kafka.bootstrap} or the variable
   * {@code OUTBOX_TEST_KAFKA_BOOTSTRAP} names one; else a container, when Testcontainers is on the
   * class path and Docker runs; else the embedded broker.
   *
   * @param settings of the broker; the user's own cluster is left as it is
   */
  static KafkaServer forTests(Map<String, String> settings) {
    return TestServers.pick(
        "Kafka",
        "outbox.test.kafka.bootstrap",
        "host:port",
        bootstrap -> () -> bootstrap,
        "kafka.KafkaContainer",
        () -> Containers.Kafka.start(settings),
        () -> {
          EmbeddedKafka.Builder builder = EmbeddedKafka.builder();
          settings.forEach(builder::setting);
          return builder.start();
        });
  }
}
