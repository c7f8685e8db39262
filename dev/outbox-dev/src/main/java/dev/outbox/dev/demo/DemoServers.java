package dev.outbox.dev.demo;

import static java.util.Objects.requireNonNull;

import dev.outbox.cli.Address;
import dev.outbox.cli.Failure;
import dev.outbox.dev.broker.Broker;
import dev.outbox.dev.common.Resources;
import dev.outbox.dev.database.Place;
import dev.outbox.dev.database.StartedServer;
import dev.outbox.dev.database.StoreKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * A database and a broker, embedded or the user's own, with a schema and places that only this demo
 * uses.
 */
final class DemoServers {
  private final String name = "outbox_demo_" + UUID.randomUUID().toString().substring(0, 8);
  private final Demo.Settings settings;
  private final Resources resources;
  final Broker broker;
  private volatile @Nullable StartedServer server;
  private volatile @Nullable Place<?> database;

  /**
   * @param resources end our own servers; on the user's they remove what was made
   */
  DemoServers(Demo.Settings settings, Resources resources) {
    this.settings = settings;
    this.resources = resources;
    broker =
        settings.broker().open(settings.bootstrapServers(), name.replace('_', '-'), Demo.TYPES);
  }

  /** Starts what is not the user's, and makes the schema, the orders and the places. */
  void start() {
    resources.add(broker);
    CompletableFuture<Void> starting = CompletableFuture.runAsync(this::startBroker);
    try {
      startDatabase();
    } finally {
      try {
        starting.join();
      } catch (CompletionException e) {
        throw e.getCause() instanceof RuntimeException cause ? cause : e;
      }
    }
  }

  private void startBroker() {
    try {
      broker.start(0);
    } catch (UnsupportedOperationException | IllegalArgumentException | UncheckedIOException e) {
      throw new Failure(
          "there is no %s to be started here; install %s (%s)"
              .formatted(broker.label(), broker.needs(), e.getMessage()),
          e);
    }
    broker.createTopics();
  }

  private void startDatabase() {
    StartedServer started = resources.add(settings.database().get());
    server = started;
    Place<?> connected = resources.add(StoreKind.at(started.address()));
    database = connected;
    if (started.embedded() == null) {
      resources.add(() -> connected.removeSchemas(name));
    }
    connected.createSchema(name);
    connected.createSchema(consumer());
    try (Place<?> demo = StoreKind.at(outbox());
        Place<?> consumers = StoreKind.at(inbox())) {
      demo.create(settings.orders());
      consumers.createInbox();
    }
  }

  private Place<?> database() {
    return requireNonNull(database, "the database is not there yet");
  }

  /** Which servers these are, and where. */
  String names() {
    return "%s, at %s; %s at %s"
        .formatted(database().server(), outbox(), broker.label(), broker.place());
  }

  /** Of the outbox that only this demo uses. */
  Address outbox() {
    return database().in(name);
  }

  /** Of the consumer's own inbox. */
  Address inbox() {
    return database().in(consumer());
  }

  private String consumer() {
    return name + "_shipping";
  }

  /** Saves what our own servers logged. */
  void copyLogs(Path logs) throws IOException {
    StartedServer own = server;
    if (own != null && own.embedded() != null) {
      own.embedded().copyLog(logs.resolve("database.log"));
    }
    if (broker.canStop()) {
      broker.server().copyLog(logs.resolve("broker.log"));
    }
  }
}
