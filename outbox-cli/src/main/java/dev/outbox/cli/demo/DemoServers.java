package dev.outbox.cli.demo;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.benchmarks.DatabaseKind;
import dev.outbox.cli.DatabaseOptions;
import dev.outbox.cli.Failure;
import dev.outbox.cli.RelayProcess;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedKafka;
import dev.outbox.embedded.EmbeddedServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * A database and a broker, embedded or the user's own, with a schema and topics that only this demo
 * uses.
 */
final class DemoServers implements AutoCloseable {
  private static final int PARTITIONS = 6;
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  private final String name = "outbox_demo_" + UUID.randomUUID().toString().substring(0, 8);
  private final DemoSettings settings;
  private volatile @Nullable DatabaseServer database;
  private volatile @Nullable EmbeddedKafka kafka;
  private volatile boolean hasSchema;
  private volatile boolean hasTopics;

  DemoServers(DemoSettings settings) {
    this.settings = settings;
  }

  /**
   * Starts what is not the user's, and makes the schema and the topics.
   *
   * @param migration run once the schema is there, while the broker may still be starting
   */
  void start(Runnable migration) {
    CompletableFuture<Void> broker = CompletableFuture.runAsync(this::startKafka);
    try {
      startDatabase();
      migration.run();
    } finally {
      try {
        broker.join();
      } catch (CompletionException e) {
        throw e.getCause() instanceof RuntimeException cause ? cause : e;
      }
    }
  }

  private void startDatabase() {
    if (settings.url() == null) {
      database = settings.store().start();
    }
    DatabaseKind kind = settings.store().database();
    try (Connection connection = DatabaseOptions.tried(url(), user(), password()).getConnection()) {
      kind.createSchema(connection, name);
      hasSchema = true;
      OrderService.createOrders(connection, orders(), settings.orders());
    } catch (SQLException e) {
      throw new Failure("the orders could not be made: " + e.getMessage(), e);
    }
  }

  private void startKafka() {
    if (settings.bootstrapServers() == null) {
      kafka = EmbeddedKafka.builder().setting("auto.create.topics.enable", "false").start();
    }
    List<NewTopic> topics =
        topics().map(t -> new NewTopic(t, Optional.of(PARTITIONS), Optional.empty())).toList();
    try (Admin admin = admin()) {
      ask("cannot connect to Kafka at", admin.describeCluster().clusterId());
      hasTopics = true;
      ask("the topics could not be made on", admin.createTopics(topics).all());
    }
  }

  private void ask(String problem, Future<?> answer) {
    try {
      answer.get();
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() != null ? e.getCause() : e;
      throw new Failure("%s %s: %s".formatted(problem, bootstrapServers(), cause.getMessage()), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Failure("%s %s: interrupted".formatted(problem, bootstrapServers()), e);
    }
  }

  private Admin admin() {
    return Admin.create(
        Map.of(
            AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG,
            bootstrapServers(),
            AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG,
            Math.toIntExact(PATIENCE.toMillis()),
            AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG,
            Math.toIntExact(PATIENCE.toMillis())));
  }

  String url() {
    DatabaseServer own = database;
    return own != null ? own.jdbcUrl() : String.valueOf(settings.url());
  }

  String user() {
    DatabaseServer own = database;
    return own != null ? own.user() : settings.user();
  }

  String password() {
    DatabaseServer own = database;
    return own != null ? own.password() : settings.password();
  }

  String bootstrapServers() {
    EmbeddedKafka own = kafka;
    return own != null ? own.bootstrapServers() : String.valueOf(settings.bootstrapServers());
  }

  HikariDataSource pool(int connections) {
    return RelayProcess.pool(url(), user(), password(), connections);
  }

  String schema() {
    return name;
  }

  String orders() {
    return name + ".demo_order";
  }

  /** Before the aggregate type. */
  String topicPrefix() {
    return name.replace('_', '-') + "-";
  }

  private Stream<String> topics() {
    return Stream.of(Customers.ORDER, Customers.SHIPMENT).map(type -> topicPrefix() + type);
  }

  List<TopicPartition> partitions() {
    return topics()
        .flatMap(t -> IntStream.range(0, PARTITIONS).mapToObj(p -> new TopicPartition(t, p)))
        .toList();
  }

  /** Whether the broker is ours to stop. */
  boolean canStopBroker() {
    return kafka != null;
  }

  void stopBroker() {
    EmbeddedKafka own = kafka;
    if (own != null) {
      own.stop();
    }
  }

  void restartBroker() {
    EmbeddedKafka own = kafka;
    if (own != null) {
      own.restart();
    }
  }

  /** Saves what our own servers logged. */
  void copyLogs(Path logs) throws IOException {
    DatabaseServer own = database;
    EmbeddedServer server = own == null ? null : own.embedded().orElse(null);
    EmbeddedKafka broker = kafka;
    if (server != null && Files.exists(server.log())) {
      Files.copy(server.log(), logs.resolve("database.log"));
    }
    if (broker != null && Files.exists(broker.log())) {
      Files.copy(broker.log(), logs.resolve("kafka.log"));
    }
  }

  /** Ends our own servers; on the user's removes what was made. */
  @Override
  public void close() {
    DatabaseServer own = database;
    EmbeddedKafka broker = kafka;
    try {
      if (broker != null) {
        broker.close();
      } else if (hasTopics) {
        removeTopics();
      }
    } finally {
      if (own != null) {
        own.close();
      } else if (hasSchema) {
        removeSchema();
      }
    }
  }

  private void removeSchema() {
    try (Connection connection = DatabaseOptions.tried(url(), user(), password()).getConnection()) {
      settings.store().database().removeSchemas(connection, name);
    } catch (SQLException e) {
      throw new Failure("%s could not be removed: %s".formatted(name, e.getMessage()), e);
    }
  }

  private void removeTopics() {
    try (Admin admin = admin()) {
      ask(
          "the topics %s* could not be removed from".formatted(topicPrefix()),
          admin.deleteTopics(topics().toList()).all());
    }
  }
}
