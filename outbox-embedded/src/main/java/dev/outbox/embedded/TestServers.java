package dev.outbox.embedded;

import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;

/** Picks the server that a test runs against. */
final class TestServers {
  private static final Logger log = LoggerFactory.getLogger(TestServers.class);

  private TestServers() {}

  static PostgresServer postgres(Map<String, String> settings) {
    String url = setting("outbox.test.postgres.url");
    if (url != null) {
      log.info("Tests run against the PostgreSQL of outbox.test.postgres.url");
      return new UsersPostgres(
          url,
          orEmpty(setting("outbox.test.postgres.user")),
          orEmpty(setting("outbox.test.postgres.password")));
    }
    if (has("org.testcontainers.postgresql.PostgreSQLContainer") && Docker.isThere()) {
      log.info("Tests run against PostgreSQL in a container");
      return PostgresInContainer.start(settings);
    }
    try {
      EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder();
      settings.forEach(builder::setting);
      EmbeddedPostgres server = builder.start();
      log.info("Tests run against the embedded PostgreSQL");
      return server;
    } catch (UnsupportedOperationException e) {
      throw new TestAbortedException(
          "no PostgreSQL: outbox.test.postgres.url is not set, Docker is not there, and "
              + e.getMessage());
    }
  }

  static KafkaServer kafka(Map<String, String> settings) {
    String bootstrap = setting("outbox.test.kafka.bootstrap");
    if (bootstrap != null) {
      log.info("Tests run against the Kafka of outbox.test.kafka.bootstrap");
      return () -> bootstrap;
    }
    if (has("org.testcontainers.kafka.KafkaContainer") && Docker.isThere()) {
      log.info("Tests run against Kafka in a container");
      return KafkaInContainer.start(settings, Cache.version("kafka"));
    }
    EmbeddedKafka.Builder builder = EmbeddedKafka.builder();
    settings.forEach(builder::setting);
    EmbeddedKafka server = builder.start();
    log.info("Tests run against the embedded Kafka");
    return server;
  }

  /** A system property, or else the environment variable of that name in capitals. */
  private static @Nullable String setting(String name) {
    String value = System.getProperty(name);
    return value != null ? value : System.getenv(name.toUpperCase(Locale.ROOT).replace('.', '_'));
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

  private record UsersPostgres(String jdbcUrl, String user, String password)
      implements PostgresServer {
    @Override
    public String toString() {
      return "PostgreSQL of the user";
    }
  }
}
