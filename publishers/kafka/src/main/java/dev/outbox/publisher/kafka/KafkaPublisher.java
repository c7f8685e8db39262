package dev.outbox.publisher.kafka;

import static java.util.Objects.requireNonNull;

import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.StoredMessage;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.ToIntBiFunction;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.jspecify.annotations.Nullable;

/**
 * Publishes to Kafka with an idempotent producer and {@code acks=all}. Safe for use by many
 * threads, as long as calls at the same time have no key in common; claims have none (C1).
 *
 * <p><b>Order (P2).</b> Idempotence alone does not keep the order of a key: when one record fails
 * and later ones were in flight already, those get through. So the producer has one request in
 * flight. When a record fails and others of its key are behind it, the producer is closed at once,
 * and the other records that it held are sent through a new one. For half the timeout after that,
 * at most one record of a key is in flight to that topic.
 *
 * <p><b>A record.</b> The key is the message's key in UTF-8, the value is the payload, the
 * partition follows from the key as with Kafka's own client; {@link Builder} can change each.
 * Headers are in UTF-8. First come the message's own, in their order, with repeats, then
 * {@linkplain dev.outbox.publisher.core.Attributes#forEach the library's} (P4). When a message has
 * a header of such a name itself, both are there: {@code lastHeader(name)} is the library's. Trace
 * context travels as the message's own {@code traceparent} and {@code tracestate}; see {@link
 * Builder#aroundSend} for instrumentation that writes its own.
 *
 * <p><b>Results (P3).</b>
 *
 * <ul>
 *   <li>rejected: too large for the broker, an invalid topic or none, a record that the broker
 *       calls invalid;
 *   <li>unavailable, with the topic or with {@code topic/partition}, while another broker answers:
 *       the topic does not exist, we may not write to it, or its partition has no leader, a leader
 *       that hangs, or too few replicas;
 *   <li>unavailable, as a whole: no broker answers, or they do not let us in;
 *   <li>failed: anything else.
 * </ul>
 *
 * <p>A topic that does not exist does not hold up others: topics are looked up without waiting. The
 * broker has a second to create it; after that its messages are unavailable at once. A call waits a
 * quarter of the timeout for a partition that does not acknowledge, later a twentieth, and not at
 * all while records that it gave up on are still on their way. What is acknowledged then is
 * delivered when it is handed over again, and not sent twice. When nothing is heard for long, the
 * cluster is asked by an admin client before it is blamed as a whole.
 */
public final class KafkaPublisher implements MessagePublisher {

  /** The default of {@link Builder#timeout}. */
  public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(20);

  final PublisherParts parts;
  private final ProducerHolder producer;

  /** The producer that makes a batch of each record; it is made only when it is needed. */
  private final ProducerHolder singles;

  KafkaPublisher(ProducerHolder producer, ProducerHolder singles, PublisherParts parts) {
    this.producer = producer;
    this.singles = singles;
    this.parts = parts;
  }

  /** Starts with the defaults that each setter names. */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns within the timeout (P5); see {@link KafkaPublisher} for the results. */
  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    return new Call(producer, singles, parts, messages).run();
  }

  /** Closes the producers; waits at most a quarter of the timeout for records on their way. */
  @Override
  public void close() {
    parts.cluster().close();
    singles.close(0);
    producer.close(Timing.millis(parts.timing().patience()));
  }

  /** The {@code bootstrap.servers}. */
  @Override
  public String address() {
    return parts.cluster().address();
  }

  /** Asks for the cluster's brokers; one that answers will do. */
  @Override
  public Optional<String> unreachable(Duration patience) throws InterruptedException {
    return parts.cluster().unreachable(patience);
  }

  /** Looks at the topics of these messages. */
  @Override
  public List<Finding> findings(List<StoredMessage> waiting, Duration patience)
      throws InterruptedException {
    return parts.cluster().findings(parts.records().topicsOf(waiting), patience);
  }

  /** Collects the settings; {@link #build()} checks them. Not safe for use by many threads. */
  public static final class Builder {
    private final Map<String, Object> properties = new LinkedHashMap<>();
    private Destination destination = Destination.aggregateType();
    private Function<StoredMessage, byte @Nullable []> key = Records::keyOf;
    private Function<StoredMessage, byte @Nullable []> value = Records::valueOf;
    private @Nullable ToIntBiFunction<StoredMessage, Integer> partition;
    private Duration timeout = DEFAULT_TIMEOUT;
    private @Nullable URI cloudEventsSource;
    private BiConsumer<StoredMessage, Runnable> aroundSend = Records::justSend;

    private Builder() {}

    /** A setting of Kafka's producer; {@code bootstrap.servers} is required. */
    public Builder property(String name, Object value) {
      properties.put(requireNonNull(name, "name"), requireNonNull(value, "value of " + name));
      return this;
    }

    /** Settings of Kafka's producer, added to those given before. */
    public Builder properties(Map<String, ?> more) {
      more.forEach(this::property);
      return this;
    }

    /** The topic of a message; default: {@link Destination#aggregateType()}. */
    public Builder destination(Destination destination) {
      this.destination = requireNonNull(destination, "destination");
      return this;
    }

    /**
     * The key of a message's record, as bytes; null for a record without one. Default: the
     * message's key in UTF-8. What Kafka keeps in order is a partition: give records of one message
     * key the same record key, or a {@link #partition}.
     */
    public Builder recordKey(Function<StoredMessage, byte @Nullable []> key) {
      this.key = requireNonNull(key, "recordKey");
      return this;
    }

    /**
     * The value of a message's record, as bytes. Null makes a tombstone: a compacted topic forgets
     * its key. An empty payload is no tombstone. Default: the payload. The value may be up to
     * {@link dev.outbox.OutboxMessage#MAX_PAYLOAD} bytes.
     */
    public Builder recordValue(Function<StoredMessage, byte @Nullable []> value) {
      this.value = requireNonNull(value, "recordValue");
      return this;
    }

    /**
     * The partition of a message, given how many its topic has. Default: by the record's key, as
     * Kafka's own Java client does. Messages of one key belong in one partition.
     */
    public Builder partition(ToIntBiFunction<StoredMessage, Integer> partition) {
      this.partition = requireNonNull(partition, "partition");
      return this;
    }

    /**
     * How long {@link KafkaPublisher#publish} takes at most; default {@link #DEFAULT_TIMEOUT}, at
     * least one second. It must be below the relay's publish timeout.
     */
    public Builder timeout(Duration timeout) {
      this.timeout = requireNonNull(timeout, "timeout");
      return this;
    }

    /**
     * Adds headers that make each record a CloudEvent in Kafka's binary content mode: {@code ce_}
     * and the name of each {@linkplain dev.outbox.publisher.core.Attributes#forEachOfCloudEvent
     * attribute}. Default: none.
     */
    public Builder cloudEvents(URI source) {
      this.cloudEventsSource = requireNonNull(source, "source");
      return this;
    }

    /**
     * Runs what gives a message's record to Kafka's client, in the thread that calls publish: for
     * what looks at the current thread there, as instrumentation that writes trace headers does.
     * The function calls the {@code Runnable} exactly once and lets its exceptions through. It
     * throws no KafkaException of its own: that would say that the producer is broken. Default: it
     * just calls it.
     */
    public Builder aroundSend(BiConsumer<StoredMessage, Runnable> aroundSend) {
      this.aroundSend = requireNonNull(aroundSend, "aroundSend");
      return this;
    }

    /**
     * Checks and builds; connects in the background, so the broker need not be there yet, nor its
     * name be known to DNS.
     *
     * @throws IllegalArgumentException naming the setting, its value and what to do; values that
     *     may be secret are masked
     */
    public KafkaPublisher build() {
      Timing timing = Timing.of(timeout);
      ProducerSettings settings = new ProducerSettings(properties, timing);
      Records records =
          new Records(destination, key, value, partition, cloudEventsSource, aroundSend);
      WallClock clock = WallClock.system();
      Cluster cluster = new Cluster(settings, clock);
      ProducerHolder producer = holder(settings, settings.plain(), clock);
      producer.start(timing.timeout());
      return new KafkaPublisher(
          producer,
          holder(settings, settings.singles(), clock),
          new PublisherParts(cluster, records, timing));
    }

    private static ProducerHolder holder(
        ProducerSettings settings, Map<String, Object> all, WallClock clock) {
      return new ProducerHolder(() -> new KafkaProducer<>(all), settings::scrub, clock);
    }
  }
}
