package dev.outbox.payload;

import static java.util.Objects.requireNonNull;

import dev.outbox.Header;
import dev.outbox.InvalidMessageException;
import dev.outbox.OutboxMessage;
import dev.outbox.PermanentOutboxException;
import dev.outbox.Texts;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serializer;

/**
 * The payload by a {@link Serializer} of Kafka's, as those for Avro, Protobuf and JSON Schema with
 * a registry: consumers read it with the deserializer that belongs to it.
 *
 * <p>A serializer asks its registry inside the caller's transaction when it meets a schema for the
 * first time, and keeps the answer. So register schemas beforehand, and tell the serializer not to
 * do it. What it throws reaches the caller, before anything is appended.
 *
 * @param <T> what the serializer takes
 */
public final class KafkaPayloadSerializer<T> implements PayloadSerializer {
  private final Class<T> type;
  private final Serializer<? super T> serializer;
  private final String contentType;
  private final Function<OutboxMessage, String> topic;

  private KafkaPayloadSerializer(
      Class<T> type,
      Serializer<? super T> serializer,
      String contentType,
      Function<OutboxMessage, String> topic) {
    this.type = requireNonNull(type, "type");
    this.serializer = requireNonNull(serializer, "serializer");
    this.contentType = requireNonNull(contentType, "contentType");
    this.topic = requireNonNull(topic, "topic");
  }

  /**
   * For messages whose topic is their aggregate type, as the Kafka publisher's is by default.
   *
   * @param type what the serializer takes
   * @param serializer configured for values; safe for use by many threads, as it has to be for a
   *     producer; closed by whoever made it
   * @param contentType the payload's media type; there is no common one for Avro with a registry
   */
  public static <T> KafkaPayloadSerializer<T> of(
      Class<T> type, Serializer<? super T> serializer, String contentType) {
    return new KafkaPayloadSerializer<>(
        type, serializer, contentType, OutboxMessage::aggregateType);
  }

  /**
   * The same, with the topic that the serializer is told: most name the schema after it. Use the
   * topic to which the relay publishes.
   */
  public KafkaPayloadSerializer<T> topic(Function<OutboxMessage, String> topic) {
    return new KafkaPayloadSerializer<>(type, serializer, contentType, topic);
  }

  /**
   * The bytes and headers that the serializer gives.
   *
   * @throws PermanentOutboxException when the event is not what the serializer takes, or it adds a
   *     header that is no text: a message's headers are texts
   */
  @Override
  public SerializedPayload serialize(OutboxMessage about, Object event) {
    if (!type.isInstance(event)) {
      throw new PermanentOutboxException(
          "%s is no %s, which %s takes: hand that one over, or convert it in a PayloadSerializer of your own"
              .formatted(event.getClass().getName(), type.getName(), name()));
    }
    Headers added = new RecordHeaders();
    byte[] bytes = serializer.serialize(topic.apply(about), added, type.cast(event));
    if (bytes == null) {
      throw new InvalidMessageException(
          "%s gives null for %s: a tombstone is made by the publisher, see KafkaPublisher's recordValue"
              .formatted(name(), event.getClass().getName()));
    }
    List<Header> headers = new ArrayList<>();
    added.forEach(header -> headers.add(new Header(header.key(), text(header))));
    return new SerializedPayload(bytes, contentType, headers);
  }

  private String text(org.apache.kafka.common.header.Header header) {
    return Texts.utf8(header.value() == null ? new byte[0] : header.value())
        .filter(text -> text.indexOf('\0') < 0)
        .orElseThrow(
            () ->
                new PermanentOutboxException(
                    "%s adds the header %s, which is no text: tell it to put the schema's id into the payload"
                        .formatted(name(), header.key())));
  }

  private String name() {
    return serializer.getClass().getName();
  }
}
