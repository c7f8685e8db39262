package dev.outbox.embedded;

import java.util.Map;
import java.util.Optional;
import org.opentest4j.TestAbortedException;

/**
 * A Kafka cluster, RabbitMQ, NATS with JetStream, Redis or replica set of MongoDB for tests: the
 * user's own when a property names one, as {@code outbox.test.nats.url} or the variable {@code
 * OUTBOX_TEST_NATS_URL}; else a container, when Testcontainers is on the class path and Docker
 * runs; else the embedded one. The names are {@code kafka} (with {@code .bootstrap}), {@code
 * rabbitmq}, {@code nats}, {@code redis} and {@code mongo}; of MongoDB there is no embedded one.
 * Who names an image, with {@code outbox.test.<name>.image}, gets a container of it. Databases with
 * a driver of JDBC are {@link DatabaseServer}s.
 *
 * <p>The methods that start one throw {@link TestAbortedException} when there is none of them, with
 * the reason; tests are then listed as skipped. The user's own server is left as it is.
 *
 * @param address as its client takes it: Kafka's {@code bootstrap.servers}, {@code
 *     amqp://user:password@host:port} of a user who may do everything in that virtual host, {@code
 *     nats://host:port}, {@code redis://host:port} or MongoDB's connection string. It may hold a
 *     password, so it is not for messages
 * @param embedded the embedded server, when it is one: that one can be killed, paused and restarted
 * @param end ends what was started for the test
 */
public record TestServer(String address, Optional<EmbeddedServer> embedded, Runnable end)
    implements AutoCloseable {

  /** In a container, or the user's own. */
  TestServer(String address, Runnable end) {
    this(address, Optional.empty(), end);
  }

  private static TestServer users(String address) {
    return new TestServer(address, () -> {});
  }

  private static TestServer ours(String address, EmbeddedServer embedded) {
    return new TestServer(address, Optional.of(embedded), embedded::close);
  }

  /** A server of the user's own stays as it is. */
  @Override
  public void close() {
    end.run();
  }

  /** A record's own text would show the password. */
  @Override
  public String toString() {
    return embedded.map(EmbeddedServer::toString).orElse("a server for tests");
  }

  public static TestServer kafka() {
    return kafka(Map.of());
  }

  /**
   * @param settings of the broker; the user's own cluster is left as it is
   */
  public static TestServer kafka(Map<String, String> settings) {
    return TestServers.pick(
        "Kafka",
        "outbox.test.kafka.bootstrap",
        "host:port",
        TestServer::users,
        "kafka.KafkaContainer",
        () -> Containers.Kafka.start(settings),
        () -> {
          EmbeddedKafka kafka = EmbeddedKafka.builder().settings(settings).start();
          return ours(kafka.bootstrapServers(), kafka);
        });
  }

  public static TestServer rabbit() {
    return rabbit(Map.of());
  }

  /**
   * @param settings lines of {@code rabbitmq.conf}; a container and the user's own broker are left
   *     as they are
   */
  public static TestServer rabbit(Map<String, String> settings) {
    return TestServers.pick(
        "RabbitMQ",
        "outbox.test.rabbitmq.url",
        "amqp://user:password@host:port",
        TestServer::users,
        "rabbitmq.RabbitMQContainer",
        () -> Containers.Rabbit.start(),
        () -> {
          EmbeddedRabbit rabbit = EmbeddedRabbit.builder().settings(settings).start();
          return ours(rabbit.uri(), rabbit);
        });
  }

  public static TestServer nats() {
    return TestServers.pick(
        "NATS",
        "outbox.test.nats.url",
        "nats://host:port",
        TestServer::users,
        "containers.GenericContainer",
        () -> Containers.Generic.nats(),
        () -> {
          EmbeddedNats nats = EmbeddedNats.start();
          return ours(nats.url(), nats);
        });
  }

  /**
   * One in which the tests may remove everything; embedded or in a container, it forgets nothing
   * that it has acknowledged.
   */
  public static TestServer redis() {
    return TestServers.pick(
        "Redis",
        "outbox.test.redis.url",
        "redis://host:port",
        TestServer::users,
        "containers.GenericContainer",
        () -> Containers.Generic.redis(),
        () -> {
          EmbeddedRedis redis = EmbeddedRedis.start();
          return ours(redis.url(), redis);
        });
  }

  /**
   * A replica set, or what speaks its protocol.
   *
   * @throws IllegalStateException when one is named that does not answer; it is asked once for all
   *     tests of the JVM
   */
  public static TestServer mongo() {
    String name = "MongoDB";
    String property = "outbox.test.mongo.url";
    return TestServers.pick(
        name,
        property,
        "mongodb://…/?replicaSet=…",
        url -> {
          NamedServers.Mongo.ask(name, property, url);
          return users(url);
        },
        "mongodb.MongoDBContainer",
        () -> Containers.Mongo.start(),
        TestServers::none);
  }
}
