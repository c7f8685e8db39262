package dev.outbox.embedded;

import java.util.Locale;
import java.util.Map;
import org.testcontainers.kafka.KafkaContainer;

/** Kafka in a container; loaded only when Testcontainers is on the class path. */
final class KafkaInContainer implements KafkaServer {
  private final KafkaContainer container;

  private KafkaInContainer(KafkaContainer container) {
    this.container = container;
  }

  static KafkaInContainer start(Map<String, String> settings, String version) {
    KafkaContainer container =
        new KafkaContainer(TestServers.image("kafka", "apache/kafka:" + version));
    settings.forEach(
        (name, value) ->
            container.withEnv("KAFKA_" + name.toUpperCase(Locale.ROOT).replace('.', '_'), value));
    container.start();
    return new KafkaInContainer(container);
  }

  @Override
  public String bootstrapServers() {
    return container.getBootstrapServers();
  }

  @Override
  public void close() {
    container.stop();
  }
}
