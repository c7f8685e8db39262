package dev.outbox.publisher.core;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.StoredMessage;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What arrives of a message besides its key, its payload and its own headers (P4), under the names
 * that all brokers use. A publisher writes them in the form that its broker has for such things.
 */
public final class Attributes {

  /** The property of a relay that makes each message a CloudEvent of this source. */
  public static final String CLOUD_EVENTS_SOURCE = "publisher.cloudEventsSource";

  private static final String CONTENT_TYPE = "content-type";

  private Attributes() {}

  /**
   * Reads the source of CloudEvents from a property.
   *
   * @return null when it is not given
   * @throws IllegalArgumentException naming the property and its value, when that is no URI
   */
  public static @Nullable URI cloudEventsSource(Map<String, String> properties, String name) {
    String source = properties.getOrDefault(name, "").strip();
    try {
      return source.isEmpty() ? null : URI.create(source);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("%s is %s, which is no URI".formatted(name, source));
    }
  }

  /** Uses what {@link #CLOUD_EVENTS_SOURCE} says, if it says something. */
  public static void cloudEventsSource(Map<String, String> properties, Consumer<URI> use) {
    URI source = cloudEventsSource(properties, CLOUD_EVENTS_SOURCE);
    if (source != null) {
      use.accept(source);
    }
  }

  /**
   * Gives, in this order: {@code outbox-id}, {@code outbox-aggregate-type}, {@code
   * outbox-aggregate-id}, {@code outbox-event-type}, {@code content-type}, {@code
   * outbox-created-at} (ISO 8601, UTC), {@code outbox-sequence}, and where the message has them
   * {@code outbox-dedup-key} and {@code outbox-correlation-id}.
   *
   * @param to takes a name and a value
   */
  public static void forEach(StoredMessage stored, BiConsumer<String, String> to) {
    OutboxMessage message = stored.message();
    to.accept("outbox-id", message.id().toString());
    to.accept("outbox-aggregate-type", message.aggregateType());
    to.accept("outbox-aggregate-id", message.aggregateId());
    to.accept("outbox-event-type", message.eventType());
    to.accept(CONTENT_TYPE, message.contentType());
    to.accept("outbox-created-at", stored.createdAt().toString());
    to.accept("outbox-sequence", Long.toString(stored.sequence()));
    accept(to, "outbox-dedup-key", message.dedupKey());
    accept(to, "outbox-correlation-id", message.correlationId());
  }

  /**
   * Gives all headers of a record of Kafka, in their order: the message's own, repeats kept; with a
   * source those of {@link #forEachOfCloudEvent}, each with {@code ce_} in front, as Kafka's binary
   * content mode has them; then those of {@link #forEach}. Whoever makes such a record without our
   * publisher makes the same one by this.
   *
   * @param cloudEventsSource null: the record is no CloudEvent
   * @param to takes a name and a value, whose bytes are UTF-8
   */
  public static void forEachHeader(
      StoredMessage stored, @Nullable URI cloudEventsSource, BiConsumer<String, String> to) {
    for (Header header : stored.message().headers()) {
      to.accept(header.name(), header.value());
    }
    if (cloudEventsSource != null) {
      forEachOfCloudEvent(
          stored, cloudEventsSource, (name, value) -> to.accept("ce_" + name, value));
    }
    forEach(stored, to);
  }

  /**
   * Gives all headers for a broker that has ASCII in them: those of {@link #forEach}, with {@code
   * outbox-content-type} in place of {@code content-type}; with a source those of {@link
   * #forEachOfCloudEvent}, each with {@code ce-} in front.
   *
   * @param cloudEventsSource null: the message is no CloudEvent
   * @param to takes a name and a value, which is {@linkplain PercentEncoding#encodeHeader
   *     percent-encoded}
   */
  public static void forEachEncoded(
      StoredMessage stored, @Nullable URI cloudEventsSource, BiConsumer<String, String> to) {
    BiConsumer<String, String> encoded =
        (name, value) -> to.accept(name, PercentEncoding.encodeHeader(value));
    forEach(
        stored,
        (name, value) ->
            encoded.accept(name.equals(CONTENT_TYPE) ? "outbox-content-type" : name, value));
    if (cloudEventsSource != null) {
      forEachOfCloudEvent(
          stored, cloudEventsSource, (name, value) -> encoded.accept("ce-" + name, value));
    }
  }

  /**
   * Gives the attributes of a CloudEvent 1.0, by their names in its specification: {@code
   * specversion}, {@code id}, {@code source}, {@code type} (event type), {@code subject} (aggregate
   * id), {@code time}, {@code partitionkey} (the record key). With a header {@link
   * Header#DATA_SCHEMA} that is an absolute URI it also gives {@code dataschema}. {@code
   * datacontenttype} is not among them: each broker has its own place for it.
   *
   * @param to takes a name and a value
   */
  public static void forEachOfCloudEvent(
      StoredMessage stored, URI source, BiConsumer<String, String> to) {
    OutboxMessage message = stored.message();
    to.accept("specversion", "1.0");
    to.accept("id", message.id().toString());
    to.accept("source", source.toString());
    to.accept("type", message.eventType());
    to.accept("subject", message.aggregateId());
    to.accept("time", stored.createdAt().toString());
    to.accept("partitionkey", message.recordKey());
    accept(to, "dataschema", dataSchema(message));
  }

  /** The last one of that name, where it is what CloudEvents allow: an absolute URI. */
  private static @Nullable String dataSchema(OutboxMessage message) {
    String schema = null;
    for (Header header : message.headers()) {
      schema = header.name().equals(Header.DATA_SCHEMA) ? header.value() : schema;
    }
    try {
      return schema != null && new URI(schema).isAbsolute() ? schema : null;
    } catch (URISyntaxException e) {
      return null; // with it, no consumer's library could read the event
    }
  }

  private static void accept(BiConsumer<String, String> to, String name, @Nullable String value) {
    if (value != null) {
      to.accept(name, value);
    }
  }
}
