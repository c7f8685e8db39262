package dev.outbox.embedded;

import org.testcontainers.containers.GenericContainer;

/** Redis in a container; loaded only when Testcontainers is on the class path. */
final class RedisInContainer implements RedisServer {
  private static final int PORT = 6379;

  private final GenericContainer<?> container;

  private RedisInContainer(GenericContainer<?> container) {
    this.container = container;
  }

  static RedisInContainer start() {
    GenericContainer<?> container =
        new GenericContainer<>(TestServers.image("redis", "redis:7.0-alpine"))
            .withExposedPorts(PORT)
            .withCommand("redis-server", "--appendonly", "yes", "--appendfsync", "always");
    container.start();
    return new RedisInContainer(container);
  }

  @Override
  public String url() {
    return "redis://%s:%d".formatted(container.getHost(), container.getMappedPort(PORT));
  }

  @Override
  public void close() {
    container.stop();
  }
}
