package dev.outbox.embedded;

import org.testcontainers.rabbitmq.RabbitMQContainer;

/** RabbitMQ in a container; loaded only when Testcontainers is on the class path. */
final class RabbitInContainer implements RabbitServer {
  private final RabbitMQContainer container;

  private RabbitInContainer(RabbitMQContainer container) {
    this.container = container;
  }

  static RabbitInContainer start() {
    RabbitMQContainer container =
        new RabbitMQContainer(TestServers.image("rabbitmq", "rabbitmq:4.1-alpine"));
    container.start();
    return new RabbitInContainer(container);
  }

  @Override
  public String uri() {
    return "amqp://%s:%s@%s:%d"
        .formatted(
            container.getAdminUsername(),
            container.getAdminPassword(),
            container.getHost(),
            container.getAmqpPort());
  }

  @Override
  public void close() {
    container.stop();
  }
}
