package dev.outbox.spring.autoconfigure;

import dev.outbox.Archive;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spi.store.StoreProvider;
import java.net.URI;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.convert.DurationUnit;
import org.springframework.util.unit.DataSize;

/**
 * The properties of the outbox. A property that is not among them is refused: it is probably
 * misspelt, and the application would run without what it asks for.
 *
 * @param enabled Whether there is an outbox at all.
 * @param store Which store, by its name (postgres, mysql, mariadb, sqlserver, mongo). Found out by
 *     default.
 * @param schema Schema of the tables, on MySQL and MariaDB the database. By default where the
 *     DataSource leads; not for MongoDB.
 * @param prefix What the name of each table or collection begins with.
 * @param dedupWindow How long a dedup key is remembered.
 * @param archive What is kept of messages that were delivered, discarded or expired, in tables
 *     beside the outbox's.
 * @param archiveRetention How long that is kept. By default 30d.
 * @param deadLetterRetention How long dead letters are kept that halt no key; then they go, into
 *     the archive if there is one. By default until somebody decides.
 * @param schemaMode What is done about the outbox's tables at the start.
 * @param append Appending messages.
 * @param relay Publishing messages.
 * @param publisher Which publishers, by their names (kafka, rabbitmq, nats, http). By default the
 *     one that is on the class path; of several, all but one have types.
 * @param destination Where messages go, as shop.{aggregateType}: a topic of Kafka, an exchange of
 *     RabbitMQ, a subject of NATS, a URL. By default the aggregate type, for NATS
 *     {aggregateType}.{recordKey}.
 * @param destinations Where messages of single aggregate types go, by aggregate type; not for a
 *     publisher that has a destination of its own.
 * @param kafka Publishing to Kafka.
 * @param rabbitmq Publishing to RabbitMQ.
 * @param nats Publishing to NATS JetStream.
 * @param http Publishing over HTTP.
 * @param handlers Calling methods with @OutboxHandler.
 * @param inbox Handling each message once.
 * @param metrics The meters.
 */
@ConfigurationProperties(prefix = "outbox", ignoreUnknownFields = false)
record OutboxProperties(
    @DefaultValue("true") boolean enabled,
    @Nullable String store,
    @Nullable String schema,
    @DefaultValue(StoreProvider.Settings.DEFAULT_PREFIX) String prefix,
    @DurationUnit(ChronoUnit.DAYS) @DefaultValue("7d") Duration dedupWindow,
    @DefaultValue("none") Archive archive,
    @DurationUnit(ChronoUnit.DAYS) @Nullable Duration archiveRetention,
    @DurationUnit(ChronoUnit.DAYS) @Nullable Duration deadLetterRetention,
    @DefaultValue("verify") SchemaMode schemaMode,
    @DefaultValue Append append,
    @DefaultValue RelaySettings relay,
    @DefaultValue List<String> publisher,
    @Nullable String destination,
    @DefaultValue Map<String, String> destinations,
    @DefaultValue Kafka kafka,
    @DefaultValue Rabbitmq rabbitmq,
    @DefaultValue Nats nats,
    @DefaultValue Http http,
    @DefaultValue Handlers handlers,
    @DefaultValue Inbox inbox,
    @DefaultValue Metrics metrics) {

  /** What is kept of messages that leave. */
  StoreProvider.History history() {
    return new StoreProvider.History(archive, archiveRetention, deadLetterRetention);
  }

  /** What is done about the tables. */
  enum SchemaMode {
    /** They must be there, or the application does not start. */
    VERIFY,

    /** Liquibase makes them. */
    MIGRATE,

    /** Nothing, until the first message. */
    NONE;

    /** Does it, with an outbox or an inbox. */
    <S> S applyTo(S store) {
      if (store instanceof SchemaStore schema) {
        switch (this) {
          case VERIFY -> schema.verify();
          case MIGRATE -> schema.migrate();
          case NONE -> {}
        }
      }
      return store;
    }
  }

  /**
   * Appending messages.
   *
   * @param flushJpa Whether JPA writes what it still holds back before a message is appended.
   * @param trace Whether traces go through the outbox, where OpenTelemetry is there.
   * @param applicationEvents Whether application events whose class has @OutboxEvent are appended.
   */
  record Append(
      @DefaultValue("true") boolean flushJpa,
      @DefaultValue("true") boolean trace,
      @DefaultValue("false") boolean applicationEvents) {}

  /**
   * Publishing messages.
   *
   * @param enabled Whether a relay runs in this application, where there is a publisher.
   * @param name What logs and the database call this relay. By default host, process id and a
   *     random number.
   * @param workers How many claims are worked on at once; each needs a connection, and there is one
   *     more. By default 2.
   * @param batchSize The most messages of a claim. By default 1000.
   * @param batchBytes The most payload of a claim. By default 8MB, less on a small heap.
   * @param lease How long the messages of a lost process wait. By default 30s.
   * @param publishTimeout When the relay gives up on a call of the publisher; below the lease. By
   *     default five sixths of it.
   * @param idlePause The longest pause between two polls. By default 500ms.
   * @param stopTimeout How long stopping may take. By default 20s.
   * @param haltKeyWhenDead Aggregate types of which a dead letter stops the later messages of its
   *     key.
   * @param retry What happens to messages that fail.
   */
  record RelaySettings(
      @DefaultValue("true") boolean enabled,
      @Nullable String name,
      @Nullable Integer workers,
      @Nullable Integer batchSize,
      @Nullable DataSize batchBytes,
      @Nullable Duration lease,
      @Nullable Duration publishTimeout,
      @Nullable Duration idlePause,
      @Nullable Duration stopTimeout,
      @DefaultValue List<String> haltKeyWhenDead,
      @DefaultValue Retry retry) {

    void applyTo(Relay.Builder relay) {
      set(name, relay::name);
      set(workers, relay::workers);
      set(batchSize, relay::batchSize);
      set(batchBytes, size -> relay.batchBytes(size.toBytes()));
      set(lease, relay::lease);
      set(publishTimeout, relay::publishTimeout);
      set(idlePause, relay::idlePause);
      set(stopTimeout, relay::stopTimeout);
      relay.retryPolicy(retry.policy()).haltKeyWhenDead(haltKeyWhenDead);
    }

    /** As the relay itself has it. */
    Duration effectiveLease() {
      return lease != null ? lease : Relay.Builder.DEFAULT_LEASE;
    }

    /** As the relay itself has it. */
    Duration effectivePublishTimeout() {
      return publishTimeout != null
          ? publishTimeout
          : Relay.Builder.defaultPublishTimeout(effectiveLease());
    }
  }

  /**
   * What happens to messages that fail. An unreachable broker does not count.
   *
   * @param maxAttempts How often a message is tried before it is a dead letter. By default 10.
   * @param firstDelay The delay after the first failure, doubled after each further one. By default
   *     100ms.
   * @param maxDelay The longest delay. By default 5m.
   */
  record Retry(
      @Nullable Integer maxAttempts, @Nullable Duration firstDelay, @Nullable Duration maxDelay) {

    RetryPolicy policy() {
      RetryPolicy.Builder policy = RetryPolicy.builder();
      set(maxAttempts, policy::maxAttempts);
      set(firstDelay, policy::firstDelay);
      set(maxDelay, policy::maxDelay);
      return policy.build();
    }
  }

  /** What is said of each publisher in the same words. */
  interface PublisherSettings {
    default List<String> types() {
      return List.of();
    }

    default @Nullable String destination() {
      return null;
    }

    default Map<String, String> destinations() {
      return Map.of();
    }

    @Nullable Duration timeout();

    /** Of all messages without a rate of their own, together; null: no limit. */
    default @Nullable String rate() {
      return null;
    }

    /** By type. */
    default Map<String, String> rates() {
      return Map.of();
    }
  }

  /**
   * Publishing to Kafka.
   *
   * @param types Aggregate types that this publisher takes, where there are several publishers.
   * @param destination Where its messages go. By default what outbox.destination says.
   * @param destinations Where its messages of single aggregate types go, by aggregate type.
   * @param timeout How long one call of the publisher may take; below relay.publish-timeout. By
   *     default four fifths of it.
   * @param properties Settings of Kafka's producer, laid over what spring.kafka says of the
   *     connection.
   * @param cloudEventsSource Adds headers that make each record a CloudEvent of this source.
   */
  record Kafka(
      @DefaultValue List<String> types,
      @Nullable String destination,
      @DefaultValue Map<String, String> destinations,
      @Nullable Duration timeout,
      @DefaultValue Map<String, String> properties,
      @Nullable URI cloudEventsSource)
      implements PublisherSettings {

    /** Without what may be secret. */
    @Override
    public String toString() {
      return "properties " + properties.keySet();
    }
  }

  /**
   * Publishing to RabbitMQ.
   *
   * @param types Aggregate types that this publisher takes, where there are several publishers.
   * @param destination Where its messages go. By default what outbox.destination says.
   * @param destinations Where its messages of single aggregate types go, by aggregate type.
   * @param timeout How long one call of the publisher may take; below relay.publish-timeout. By
   *     default four fifths of it.
   * @param uri Where RabbitMQ is and as whom to log in, in the place of spring.rabbitmq:
   *     amqps://user:password@host.
   * @param routingKey The routing key of a message.
   * @param routingKeys The routing keys of messages of single aggregate types, by aggregate type.
   */
  record Rabbitmq(
      @DefaultValue List<String> types,
      @Nullable String destination,
      @DefaultValue Map<String, String> destinations,
      @Nullable Duration timeout,
      @Nullable String uri,
      @DefaultValue("{eventType}") String routingKey,
      @DefaultValue Map<String, String> routingKeys)
      implements PublisherSettings {

    /** Without what may be secret. */
    @Override
    public String toString() {
      return "routing key " + routingKey;
    }
  }

  /**
   * Publishing to NATS JetStream.
   *
   * @param types Aggregate types that this publisher takes, where there are several publishers.
   * @param destination Where its messages go. By default what outbox.destination says.
   * @param destinations Where its messages of single aggregate types go, by aggregate type.
   * @param timeout How long one call of the publisher may take; below relay.publish-timeout. By
   *     default four fifths of it.
   * @param servers URLs of servers, as nats://localhost:4222.
   * @param properties Settings of NATS's client, without io.nats.client: username, password, token.
   * @param cloudEventsSource Adds headers that make each message a CloudEvent of this source.
   */
  record Nats(
      @DefaultValue List<String> types,
      @Nullable String destination,
      @DefaultValue Map<String, String> destinations,
      @Nullable Duration timeout,
      @DefaultValue List<String> servers,
      @DefaultValue Map<String, String> properties,
      @Nullable URI cloudEventsSource)
      implements PublisherSettings {

    /** Without what may be secret. */
    @Override
    public String toString() {
      return "properties " + properties.keySet();
    }
  }

  /**
   * Publishing over HTTP, as CloudEvents.
   *
   * @param types Aggregate types that this publisher takes, where there are several publishers.
   * @param destination Where its messages go. By default what outbox.destination says.
   * @param destinations Where its messages of single aggregate types go, by aggregate type.
   * @param timeout How long one call of the publisher may take; below relay.publish-timeout. By
   *     default four fifths of it.
   * @param cloudEventsSource The source of the events: a URI that says who sends.
   * @param mode How an event is written, binary or structured. By default binary.
   * @param signingSecrets Secrets by which requests are signed, as Standard Webhooks say.
   * @param headers Header fields of each request, as Authorization.
   * @param copiedHeaders Headers of messages that become header fields too. By default those of
   *     traces.
   * @param maxInFlight How many requests may be on their way to one host. By default 64.
   * @param rate How many messages are sent in which time, as 20/s or 600/m. By default there is no
   *     limit.
   * @param rates The rates of messages of single aggregate types, by aggregate type.
   */
  record Http(
      @DefaultValue List<String> types,
      @Nullable String destination,
      @DefaultValue Map<String, String> destinations,
      @Nullable Duration timeout,
      @Nullable URI cloudEventsSource,
      @Nullable String mode,
      @DefaultValue List<String> signingSecrets,
      @DefaultValue Map<String, String> headers,
      @DefaultValue List<String> copiedHeaders,
      @Nullable Integer maxInFlight,
      @Nullable String rate,
      @DefaultValue Map<String, String> rates)
      implements PublisherSettings {

    /** Without what may be secret. */
    @Override
    public String toString() {
      return "headers " + headers.keySet();
    }
  }

  /**
   * Calling methods with @OutboxHandler.
   *
   * @param timeout How long one call of all handlers may take; below relay.publish-timeout. A
   *     handler may take half of it. By default four fifths of it.
   * @param concurrency How many messages of each event type are handled at once. By default 16.
   * @param rate How many messages are handled in which time, as 20/s or 600/m. By default there is
   *     no limit.
   * @param rates The rates of messages of single event types, by event type.
   */
  record Handlers(
      @Nullable Duration timeout,
      @Nullable Integer concurrency,
      @Nullable String rate,
      @DefaultValue Map<String, String> rates)
      implements PublisherSettings {}

  /**
   * Handling each message once. The inbox is in the outbox's database and schema, and needs no
   * outbox; its tables are made or verified as the outbox's are.
   *
   * @param enabled Whether there is an inbox.
   * @param prefix What the name of each of its tables or collections begins with.
   * @param retention How long a message is remembered after it was handled; longer than it may take
   *     to arrive again.
   * @param purge Whether this application deletes what need not be remembered any more.
   */
  record Inbox(
      @DefaultValue("false") boolean enabled,
      @DefaultValue(InboxStore.DEFAULT_PREFIX) String prefix,
      @DurationUnit(ChronoUnit.DAYS) @DefaultValue("7d") Duration retention,
      @DefaultValue("true") boolean purge) {}

  /**
   * The meters, where Micrometer is there.
   *
   * @param enabled Whether there are meters of the outbox.
   * @param interval How long to wait after a reading of what waits before the next.
   */
  record Metrics(@DefaultValue("true") boolean enabled, @DefaultValue("15s") Duration interval) {}

  private static <T> void set(@Nullable T value, Consumer<T> setter) {
    if (value != null) {
      setter.accept(value);
    }
  }
}
