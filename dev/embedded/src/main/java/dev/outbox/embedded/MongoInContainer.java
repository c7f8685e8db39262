package dev.outbox.embedded;

import org.testcontainers.mongodb.MongoDBContainer;

/** MongoDB in a container; loaded only when Testcontainers is on the class path. */
final class MongoInContainer implements MongoServer {
  private final MongoDBContainer container;

  private MongoInContainer(MongoDBContainer container) {
    this.container = container;
  }

  static MongoServer start() {
    MongoDBContainer container =
        new MongoDBContainer(TestServers.image("mongo", "mongo:8.0"))
            .withReplicaSet()
            // That of withReplicaSet, and fail points.
            .withCommand("--replSet", "docker-rs", "--setParameter", "enableTestCommands=1");
    container.start();
    return new MongoInContainer(container);
  }

  @Override
  public String connectionString() {
    // Without the set's name: its members know each other by names that are the container's own.
    return container.getConnectionString() + "/?directConnection=true";
  }

  @Override
  public void close() {
    container.stop();
  }
}
