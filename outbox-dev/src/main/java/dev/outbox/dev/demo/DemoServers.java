package dev.outbox.dev.demo;

import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxException;
import dev.outbox.cli.Address;
import dev.outbox.cli.DatabaseOptions;
import dev.outbox.cli.Failure;
import dev.outbox.dev.Database;
import dev.outbox.dev.StartedServer;
import dev.outbox.embedded.EmbeddedKafka;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
  private volatile @Nullable StartedServer server;
  private volatile @Nullable Database database;
  private volatile @Nullable EmbeddedKafka kafka;
  private volatile boolean hasTopics;

  DemoServers(DemoSettings settings) {
    this.settings = settings;
  }

  /** Starts what is not the user's, and makes the schema, the orders and the topics. */
  void start() {
    CompletableFuture<Void> broker = CompletableFuture.runAsync(this::startKafka);
    try {
      startDatabase();
    } finally {
      try {
        broker.join();
      } catch (CompletionException e) {
        throw e.getCause() instanceof RuntimeException cause ? cause : e;
      }
    }
  }

  private void startDatabase() {
    Address address = settings.database();
    if (address == null) {
      StartedServer started = settings.store().start();
      server = started;
      address = started.address();
    }
    Database connected = Database.connect(address);
    database = connected;
    connected.createSchema(name);
    try (Database demo = Database.at(outbox())) {
      demo.store().migrate();
      demo.orderService().create(settings.orders());
    } catch (Failure | OutboxException e) {
      throw e;
    } catch (Exception e) {
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

  /** Which servers these are, and where. */
  String names() {
    Database connected = requireNonNull(database, "the database is not there yet");
    return "%s, at %s; Kafka at %s".formatted(connected.server(), outbox(), bootstrapServers());
  }

  /** How to look at what is in them. */
  List<String> waysToLook() {
    Address address = outbox();
    String topic = topicPrefix() + Customers.ORDER;
    StringBuilder where = new StringBuilder("--url \"" + address + "\"");
    if (!address.user().isEmpty()) {
      where.append(" --user ").append(address.user());
    }
    if (address.schema() != null) {
      where.append(" --schema ").append(address.schema());
    }
    boolean own = settings.database() == null && !address.password().isEmpty();
    return List.of(
        "Database  " + address,
        "          "
            + (own ? DatabaseOptions.PASSWORD_VARIABLE + "=" + address.password() + " " : "")
            + "./outbox status "
            + where,
        "Kafka     " + bootstrapServers(),
        "          ./outbox demo-read --bootstrap-servers %s --topic %s"
            .formatted(bootstrapServers(), topic),
        "          kafka-console-consumer.sh --bootstrap-server %s --topic %s --from-beginning --property print.key=true --property print.headers=true"
            .formatted(bootstrapServers(), topic));
  }

  /** Of the outbox that only this demo uses. */
  Address outbox() {
    return requireNonNull(database, "the database is not there yet").in(name);
  }

  String bootstrapServers() {
    EmbeddedKafka own = kafka;
    return own != null ? own.bootstrapServers() : String.valueOf(settings.bootstrapServers());
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
    StartedServer own = server;
    EmbeddedKafka broker = kafka;
    if (own != null && own.log().filter(Files::exists).isPresent()) {
      Files.copy(own.log().get(), logs.resolve("database.log"));
    }
    if (broker != null && Files.exists(broker.log())) {
      Files.copy(broker.log(), logs.resolve("kafka.log"));
    }
  }

  /** Ends our own servers; on the user's removes what was made. */
  @Override
  public void close() {
    EmbeddedKafka broker = kafka;
    try {
      if (broker != null) {
        broker.close();
      } else if (hasTopics) {
        removeTopics();
      }
    } finally {
      closeDatabase();
    }
  }

  private void closeDatabase() {
    try (StartedServer own = server;
        Database connected = database) {
      if (connected != null && (own == null || !own.vanishes())) {
        connected.removeSchemas(name);
      }
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
