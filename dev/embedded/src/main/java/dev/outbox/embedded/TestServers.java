package dev.outbox.embedded;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;

/** Picks the server that a test runs against. */
final class TestServers {
  private static final Logger log = LoggerFactory.getLogger(TestServers.class);

  /** What Testcontainers has no class for. */
  private static final String NO_CONTAINER = "none";

  private TestServers() {}

  static DatabaseServer postgres(Map<String, String> settings) {
    return database(
        "PostgreSQL",
        "postgres",
        "postgresql.PostgreSQLContainer",
        () -> Containers.Postgres.start(settings),
        () -> {
          EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder();
          settings.forEach(builder::setting);
          return builder.start();
        });
  }

  static DatabaseServer mysql(Map<String, String> settings) {
    return database(
        "MySQL",
        "mysql",
        "mysql.MySQLContainer",
        () -> Containers.Mysql.start(image("mysql", "mysql:8.4"), settings),
        () -> started(EmbeddedMysql.builder(), settings));
  }

  static DatabaseServer mariadb(Map<String, String> settings) {
    return database(
        "MariaDB",
        "mariadb",
        "mysql.MySQLContainer",
        () -> Containers.Mysql.start(image("mariadb", "mariadb:11.4"), settings),
        () -> started(EmbeddedMysql.mariadb(), settings));
  }

  static List<DatabaseServer> galera() {
    return orSkip("Galera", EmbeddedGalera::start, "").nodes().stream()
        .<DatabaseServer>map(
            node -> new StayingDatabase(node.jdbcUrl(), node.user(), node.password()))
        .toList();
  }

  static DatabaseServer sqlServer() {
    return database(
        "SQL Server",
        "sqlserver",
        "mssqlserver.MSSQLServerContainer",
        () -> Containers.SqlServer.start(),
        TestServers::none);
  }

  static MongoServer mongo() {
    String name = "MongoDB";
    String property = "outbox.test.mongo.url";
    return pick(
        name,
        property,
        "mongodb://…/?replicaSet=…",
        url -> {
          NamedServers.Mongo.ask(name, property, url);
          return () -> url; // a record would show the password
        },
        "mongodb.MongoDBContainer",
        () -> Containers.Mongo.start(),
        TestServers::none);
  }

  static KafkaServer kafka(Map<String, String> settings) {
    return pick(
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

  static RabbitServer rabbit(Map<String, String> settings) {
    return pick(
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

  static NatsServer nats() {
    return TestServers.<NatsServer>pick(
        "NATS",
        "outbox.test.nats.url",
        "nats://host:port",
        url -> () -> url,
        NO_CONTAINER,
        TestServers::none,
        EmbeddedNats::start);
  }

  static RedisServer redis() {
    return TestServers.<RedisServer>pick(
        "Redis",
        "outbox.test.redis.url",
        "redis://host:port",
        url -> () -> url, // a record would show the password
        "containers.GenericContainer",
        () -> Containers.Redis.start(),
        EmbeddedRedis::start);
  }

  private static <S> S none() {
    throw new UnsupportedOperationException("there is no embedded one");
  }

  private static EmbeddedMysql started(
      EmbeddedMysql.Builder builder, Map<String, String> settings) {
    settings.forEach(builder::setting);
    return builder.start();
  }

  private static DatabaseServer database(
      String name,
      String key,
      String containerClass,
      Supplier<DatabaseServer> container,
      Supplier<DatabaseServer> embedded) {
    String property = "outbox.test." + key;
    return pick(
        name,
        property + ".url",
        "jdbc:…",
        url -> {
          String user = orEmpty(Machine.setting(property + ".user"));
          String password = orEmpty(Machine.setting(property + ".password"));
          NamedServers.ask(name, property + ".url", url, user, password);
          return new StayingDatabase(url, user, password);
        },
        containerClass,
        container,
        embedded);
  }

  private static <S> S pick(
      String name,
      String property,
      String form,
      Function<String, S> users,
      String containerClass,
      Supplier<S> container,
      Supplier<S> embedded) {
    String given = Machine.setting(property);
    if (given != null) {
      log.info("Tests run against the {} of {}", name, property);
      return users.apply(given);
    }
    if (other(property, "image") != null
        || (other(property, "version") == null
            && has("org.testcontainers." + containerClass)
            && Docker.isThere())) {
      log.info("Tests run against {} in a container", name);
      return container.get();
    }
    return orSkip(
        name, embedded, ". Name one with -D%s=%s, or run Docker".formatted(property, form));
  }

  /**
   * Starts a server of ours.
   *
   * @param other what helps where there is none
   */
  private static <S> S orSkip(String name, Supplier<S> embedded, String other) {
    try {
      S server = embedded.get();
      log.info("Tests run against the {}", server);
      return server;
    } catch (UnsupportedOperationException e) {
      String reason = "no %s to test with: %s%s".formatted(name, e.getMessage(), other);
      log.warn("Tests are SKIPPED: {}", reason);
      throw new TestAbortedException(reason);
    }
  }

  /**
   * What else is said of that server: {@code outbox.test.postgres.version} asks for an embedded
   * one, {@code outbox.test.postgres.image} for a container.
   */
  private static @Nullable String other(String property, String last) {
    return Machine.setting(property.replaceFirst("[a-z]+$", last));
  }

  /** The image of {@code outbox.test.<name>.image}, or the usual one. */
  static String image(String name, String usual) {
    String named = Machine.setting("outbox.test." + name + ".image");
    return named == null ? usual : named;
  }

  private static String orEmpty(@Nullable String value) {
    return value == null ? "" : value;
  }

  private static boolean has(String className) {
    try {
      Class.forName(className, false, TestServers.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  /** A class of its own, loaded only when Testcontainers is on the class path. */
  private static final class Docker {
    static boolean isThere() {
      return DockerClientFactory.instance().isDockerAvailable();
    }
  }

  /** One that a test does not end. A record's own text would show the password. */
  private record StayingDatabase(String jdbcUrl, String user, String password)
      implements DatabaseServer {
    @Override
    public String toString() {
      return "database server at " + NamedServers.address(jdbcUrl);
    }
  }
}
