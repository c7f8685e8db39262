package dev.outbox.cli;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.publisher.kafka.KafkaPublisher;
import dev.outbox.relay.Relay;
import dev.outbox.spi.MessagePublisher;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.net.URI;
import java.time.Duration;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** A relay from a configuration, with its pool and its publisher. */
public final class RelayProcess implements AutoCloseable {
  private final HikariDataSource pool;
  private final MessagePublisher publisher;
  private final Relay relay;

  private RelayProcess(HikariDataSource pool, MessagePublisher publisher, Relay relay) {
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
    String url = config.text("store.url", "");
    String user = config.text("store.user", "");
    String password = config.text("store.password", "");
    var ignored = DatabaseOptions.tried(url, user, password);
    HikariDataSource pool = pool(url, user, password, Math.max(1, config.workers()) + 1);
    MessagePublisher publisher = null;
    try {
      publisher = publisher(config);
      Relay.Builder relay = Relay.builder(store(StoreKind.of(url), config, pool), publisher);
      config.configure(relay);
      RelayProcess process = new RelayProcess(pool, publisher, relay.build());
      LoggerFactory.getLogger(RelayProcess.class)
          .info("From {} to {}", Secrets.mask(url), config.kafka().get("bootstrap.servers"));
      process.relay.start();
      return process;
    } catch (RuntimeException e) {
      close(publisher, pool);
      throw e instanceof IllegalArgumentException
          ? new Failure(String.valueOf(e.getMessage()), e)
          : e;
    }
  }

  private static JdbcOutboxStore store(StoreKind kind, RelayConfig config, HikariDataSource pool) {
    String schema = config.text("store.schema", "");
    return kind.database()
        .store(pool)
        .dedupWindow(config.duration("store.dedupWindow", JdbcOutboxStore.DEFAULT_DEDUP_WINDOW))
        .schema(schema.isEmpty() ? null : schema)
        .prefix(config.text("store.prefix", "outbox_"))
        .build();
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

  /** A pool that keeps trying when the database is away. */
  public static HikariDataSource pool(String url, String user, String password, int connections) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setUsername(user.isEmpty() ? null : user);
    config.setPassword(password.isEmpty() ? null : password);
    config.setMaximumPoolSize(connections);
    config.setConnectionTimeout(Duration.ofSeconds(10).toMillis());
    return new HikariDataSource(config);
  }

  /** Stops the relay, then what it used. */
  @Override
  public void close() {
    relay.close();
    close(publisher, pool);
  }

  private static void close(@Nullable MessagePublisher publisher, HikariDataSource pool) {
    if (publisher != null) {
      publisher.close();
    }
    pool.close();
  }
}
