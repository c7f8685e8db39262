package dev.outbox.cli;

import dev.outbox.publisher.kafka.KafkaPublisher;
import dev.outbox.relay.Relay;
import dev.outbox.spi.MessagePublisher;
import dev.outbox.store.core.BucketStore;
import java.net.URI;
import java.time.Duration;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** A relay from a configuration, with its pool and its publisher. */
public final class RelayProcess implements AutoCloseable {
  private final Database pool;
  private final MessagePublisher publisher;
  private final Relay relay;

  private RelayProcess(Database pool, MessagePublisher publisher, Relay relay) {
    this.pool = pool;
    this.publisher = publisher;
    this.relay = relay;
  }

  /**
   * Starts what the properties describe, logging to standard error; variables are filled in.
   *
   * @throws Failure when a setting is refused or the database does not answer
   */
  public static RelayProcess start(Properties properties) {
    Logs.toStandardError(properties.getProperty("log.level", "info").strip());
    return start(RelayConfig.of(properties, System::getenv));
  }

  private static RelayProcess start(RelayConfig config) {
    Database pool;
    try (Database tried = Database.connectToOutbox(config.address())) {
      pool = tried.pool(Math.max(1, config.workers()) + 1);
    }
    MessagePublisher publisher = null;
    try {
      publisher = publisher(config);
      Duration dedupWindow = config.duration("store.dedupWindow", BucketStore.DEFAULT_DEDUP_WINDOW);
      Relay.Builder relay = Relay.builder(pool.store(dedupWindow), publisher);
      config.configure(relay);
      RelayProcess process = new RelayProcess(pool, publisher, relay.build());
      LoggerFactory.getLogger(RelayProcess.class)
          .info("From {} to {}", config.address(), config.kafka().get("bootstrap.servers"));
      process.relay.start();
      return process;
    } catch (RuntimeException e) {
      close(publisher, pool);
      throw e instanceof IllegalArgumentException
          ? new Failure(String.valueOf(e.getMessage()), e)
          : e;
    }
  }

  private static KafkaPublisher publisher(RelayConfig config) {
    KafkaPublisher.Builder publisher =
        KafkaPublisher.builder()
            .properties(config.kafka())
            .topic(message -> config.topic(message.message().aggregateType()))
            .timeout(config.publisherTimeout());
    String transactional = config.text("publisher.transactional", "");
    if (!transactional.isEmpty()) {
      publisher.transactional(transactional);
    }
    String source = config.text("publisher.cloudEventsSource", "");
    if (!source.isEmpty()) {
      publisher.cloudEvents(URI.create(source));
    }
    return publisher.build();
  }

  /** Stops the relay, then what it used. */
  @Override
  public void close() {
    relay.close();
    close(publisher, pool);
  }

  private static void close(@Nullable MessagePublisher publisher, Database pool) {
    if (publisher != null) {
      publisher.close();
    }
    pool.close();
  }
}
