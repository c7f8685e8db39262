package dev.outbox.embedded;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.JdbcDatabaseContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.mongodb.MongoDBContainer;
import org.testcontainers.mssqlserver.MSSQLServerContainer;
import org.testcontainers.mysql.MySQLContainer;
import org.testcontainers.postgresql.PostgreSQLContainer;
import org.testcontainers.rabbitmq.RabbitMQContainer;
import org.testcontainers.utility.DockerImageName;

/**
 * Servers in containers. Each is a class of its own, because a project has the module of its own
 * server only: it is loaded only when Testcontainers is on the class path.
 */
final class Containers {
  private Containers() {}

  private record Database(JdbcDatabaseContainer<?> container) implements DatabaseServer {
    static DatabaseServer start(JdbcDatabaseContainer<?> container) {
      container.start();
      return new Database(container);
    }

    @Override
    public String jdbcUrl() {
      return container.getJdbcUrl();
    }

    @Override
    public String user() {
      return container.getUsername();
    }

    @Override
    public String password() {
      return container.getPassword();
    }

    @Override
    public void close() {
      container.stop();
    }
  }

  static final class Postgres {
    private Postgres() {}

    static DatabaseServer start(Map<String, String> settings) {
      List<String> command = new ArrayList<>(List.of("postgres", "-c", "max_connections=200"));
      settings.forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
      return Database.start(
          new PostgreSQLContainer(TestServers.image("postgres", "postgres:18-alpine"))
              .withCommand(command.toArray(String[]::new)));
    }
  }

  /** MariaDB's image understands what MySQL's does. */
  static final class Mysql {
    private Mysql() {}

    static DatabaseServer start(String image, Map<String, String> settings) {
      List<String> command = new ArrayList<>(List.of("--max_connections=200"));
      settings.forEach((name, value) -> command.add("--" + name + "=" + value));
      return Database.start(
          new MySQLContainer(DockerImageName.parse(image).asCompatibleSubstituteFor("mysql"))
              .withConfigurationOverride(null) // theirs allows 1 MB a packet
              .withUsername("root")
              .withDatabaseName("outbox")
              .withUrlParam("sslMode", "DISABLED")
              .withUrlParam("allowPublicKeyRetrieval", "true")
              .withCommand(command.toArray(String[]::new)));
    }
  }

  static final class SqlServer {
    private SqlServer() {}

    static DatabaseServer start() {
      return Database.start(
          new MSSQLServerContainer(
                  TestServers.image("sqlserver", "mcr.microsoft.com/mssql/server:2022-latest"))
              .acceptLicense()
              .withUrlParam("encrypt", "false")); // its certificate is its own
    }
  }

  static final class Mongo {
    private Mongo() {}

    static TestServer start() {
      MongoDBContainer container =
          new MongoDBContainer(TestServers.image("mongo", "mongo:8.0"))
              .withReplicaSet()
              // That of withReplicaSet, and fail points.
              .withCommand("--replSet", "docker-rs", "--setParameter", "enableTestCommands=1");
      container.start();
      // Without the set's name: its members know each other by names that are the container's own.
      return new TestServer(
          container.getConnectionString() + "/?directConnection=true", container::stop);
    }
  }

  static final class Kafka {
    private Kafka() {}

    static TestServer start(Map<String, String> settings) {
      KafkaContainer container =
          new KafkaContainer(TestServers.image("kafka", "apache/kafka:" + Cache.version("kafka")));
      settings.forEach(
          (name, value) ->
              container.withEnv("KAFKA_" + name.toUpperCase(Locale.ROOT).replace('.', '_'), value));
      container.start();
      return new TestServer(container.getBootstrapServers(), container::stop);
    }
  }

  static final class Rabbit {
    private Rabbit() {}

    static TestServer start() {
      RabbitMQContainer container =
          new RabbitMQContainer(TestServers.image("rabbitmq", "rabbitmq:4.1-alpine"));
      container.start();
      return new TestServer(
          "amqp://%s:%s@%s:%s"
              .formatted(
                  container.getAdminUsername(),
                  container.getAdminPassword(),
                  container.getHost(),
                  container.getAmqpPort()),
          container::stop);
    }
  }

  /** Those that Testcontainers has no class for. */
  static final class Generic {
    private Generic() {}

    static TestServer nats() {
      return start(
          "nats",
          4222,
          new GenericContainer<>(TestServers.image("nats", "nats:2.11-alpine"))
              .withCommand("--jetstream")
              .waitingFor(Wait.forLogMessage(".*Server is ready.*", 1))); // it may have no shell
    }

    static TestServer redis() {
      return start(
          "redis",
          6379,
          new GenericContainer<>(TestServers.image("redis", "redis:7.0-alpine"))
              .withCommand("redis-server", "--appendonly", "yes", "--appendfsync", "always"));
    }

    private static TestServer start(String scheme, int port, GenericContainer<?> container) {
      container.withExposedPorts(port).start();
      return new TestServer(
          "%s://%s:%s".formatted(scheme, container.getHost(), container.getMappedPort(port)),
          container::stop);
    }
  }
}
