package dev.outbox.embedded;

import java.util.Map;
import java.util.Optional;

/** A RabbitMQ for tests. */
public interface RabbitServer extends AutoCloseable {

  /**
   * For {@code ConnectionFactory.setUri}: {@code amqp://user:password@host:port}, of a user who may
   * do everything in that virtual host.
   */
  String uri();

  /** The embedded one, when it is one: that one can be killed, paused, restarted and controlled. */
  default Optional<EmbeddedRabbit> embedded() {
    return this instanceof EmbeddedRabbit ours ? Optional.of(ours) : Optional.empty();
  }

  /** Ends what was started for the test; a broker of the user's own stays as it is. */
  @Override
  default void close() {}

  /** {@link #forTests(Map)} without settings. */
  static RabbitServer forTests() {
    return forTests(Map.of());
  }

  /**
   * The user's own broker when the property {@code outbox.test.rabbitmq.url} or the variable {@code
   * OUTBOX_TEST_RABBITMQ_URL} names one; else a container, when Testcontainers is on the class path
   * and Docker runs; else the embedded one.
   *
   * @param settings lines of {@code rabbitmq.conf}; a container and the user's own broker are left
   *     as they are
   */
  static RabbitServer forTests(Map<String, String> settings) {
    return TestServers.pick(
        "RabbitMQ",
        "outbox.test.rabbitmq.url",
        "amqp://user:password@host:port",
        url -> () -> url, // a record would show the password
        "rabbitmq.RabbitMQContainer",
        () -> Containers.Rabbit.start(),
        () -> {
          EmbeddedRabbit.Builder builder = EmbeddedRabbit.builder();
          settings.forEach(builder::setting);
          return builder.start();
        });
  }
}
