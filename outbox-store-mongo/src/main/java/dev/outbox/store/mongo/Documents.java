package dev.outbox.store.mongo;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.core.internal.Database;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;
import org.bson.BsonBinary;
import org.bson.BsonBinarySubType;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.types.Binary;
import org.jspecify.annotations.Nullable;

/**
 * Messages as documents, which {@link MongoOutboxStore} shows. One that cannot be decoded is a
 * message with a problem (C7).
 */
final class Documents {

  /** What is known of a message beside its payload and headers, and where it stands. */
  static final List<String> METADATA =
      List.of(
          "seq",
          "key",
          "id",
          "aggregateType",
          "aggregateId",
          "eventType",
          "partitionKey",
          "contentType",
          "dedupKey",
          "correlationId",
          "createdAt",
          "availableAt",
          "availableMicros",
          "expiresAt",
          "expiresMicros",
          "maxAttempts",
          "attempts",
          "lastError");

  private Documents() {}

  /** For an insert: the server fills in the empty timestamp. */
  static Document of(OutboxMessage message, Status status, Instant createdAt) {
    Document document =
        new Document("seq", new BsonTimestamp())
            .append("bucket", bucket(message.key()))
            .append("status", status.name())
            .append("key", message.key())
            .append("id", new BsonBinary(message.id()))
            .append("aggregateType", message.aggregateType())
            .append("aggregateId", message.aggregateId())
            .append("eventType", message.eventType())
            .append("partitionKey", message.partitionKey())
            .append("payload", new Binary(message.payload()))
            .append("contentType", message.contentType())
            .append("headers", message.headers().isEmpty() ? null : headers(message.headers()))
            .append("dedupKey", message.dedupKey())
            .append("correlationId", message.correlationId())
            .append("maxAttempts", message.maxAttempts())
            .append("createdAt", Date.from(createdAt));
    if (message.availableAt() != null) {
      put(document, "available", roundedUp(message.availableAt()), message.availableAt());
    }
    if (message.expiresAt() != null) {
      put(document, "expires", Date.from(message.expiresAt()), message.expiresAt());
    }
    document.values().removeIf(value -> value == null);
    return document;
  }

  private static List<Document> headers(List<Header> headers) {
    return headers.stream()
        .map(header -> new Document("name", header.name()).append("value", header.value()))
        .toList();
  }

  /** A date has milliseconds: the time is exact beside it. */
  private static void put(Document document, String name, Date date, Instant time) {
    document.append(name + "At", date);
    if (!date.toInstant().equals(time)) {
      document.append(name + "Micros", micros(time));
    }
  }

  /** A ChronoUnit would count up to the year 2262. */
  private static long micros(Instant time) {
    return TimeUnit.SECONDS.toMicros(time.getEpochSecond())
        + TimeUnit.NANOSECONDS.toMicros(time.getNano());
  }

  /** The first date that is not before, so that nothing comes early. */
  static Date roundedUp(Instant time) {
    Instant millis = time.truncatedTo(ChronoUnit.MILLIS);
    return Date.from(millis.equals(time) ? millis : millis.plusMillis(1));
  }

  /** Which bucket a key belongs to: CRC-32 of its UTF-8 bytes, the lowest six bits. */
  static int bucket(String key) {
    CRC32 hash = new CRC32();
    hash.update(key.getBytes(StandardCharsets.UTF_8));
    return (int) (hash.getValue() % Database.BUCKETS);
  }

  static long sequence(Document document) {
    return Sequence.of(document.get("seq", BsonTimestamp.class));
  }

  /** The key of a document that was adopted. */
  static String key(Document document) {
    return document.get("key") instanceof String key ? key : keyOf(document);
  }

  /** The key that a document without one has. */
  static String keyOf(Document document) {
    Object given = document.get("partitionKey");
    return OutboxMessage.key(
        String.valueOf(document.get("aggregateType")),
        String.valueOf(document.get("aggregateId")),
        given == null ? null : given.toString());
  }

  static StoredMessage message(Document document) {
    return StoredMessage.decode(
        sequence(document),
        keyOf(document),
        textOrNull(document, "aggregateType"),
        attempts(document),
        createdAt(document),
        () -> decode(document));
  }

  /** When it was appended; what does not say so has its sequence, which is a time. */
  static Instant createdAt(Document document) {
    Instant time = timeOrNull(document, "createdAt");
    return time == null ? Sequence.time(sequence(document)) : time;
  }

  static @Nullable Instant timeOrNull(Document document, String field) {
    return document.get(field) instanceof Date date ? date.toInstant() : null;
  }

  static @Nullable String textOrNull(Document document, String field) {
    return document.get(field) instanceof String text ? text : null;
  }

  /** The id of a message, as text: it need not be a UUID. */
  static String id(Document document) {
    UUID uuid = uuid(document.get("id"));
    return String.valueOf(uuid == null ? document.get("id") : uuid);
  }

  /** Null when it is none. Which type it comes as is a setting of the client. */
  static @Nullable UUID uuid(@Nullable Object value) {
    if (value instanceof Binary binary
        && binary.getType() == BsonBinarySubType.UUID_STANDARD.getValue()
        && binary.length() == 16) {
      return new BsonBinary(binary.getType(), binary.getData()).asUuid();
    }
    return value instanceof UUID uuid ? uuid : null;
  }

  static int attempts(Document document) {
    return number(document, "attempts");
  }

  /** 0 where there is none. */
  static int number(Document document, String field) {
    return document.get(field) instanceof Number number ? number.intValue() : 0;
  }

  /** When it is due, where that is a date at all. */
  static @Nullable Instant time(Document document) {
    return document.get("availableAt") instanceof Date ? time(document, "available") : null;
  }

  /** When it expires, where that is a date at all. */
  static @Nullable Instant expiresAt(Document document) {
    return document.get("expiresAt") instanceof Date ? time(document, "expires") : null;
  }

  private static OutboxMessage decode(Document document) {
    String contentType = text(document, "contentType");
    return OutboxMessage.builder()
        .id(required("id", uuid(document.get("id"))))
        .aggregate(
            required("aggregateType", text(document, "aggregateType")),
            required("aggregateId", text(document, "aggregateId")))
        .eventType(required("eventType", text(document, "eventType")))
        .partitionKey(text(document, "partitionKey"))
        .payload(payload(document.get("payload")))
        .contentType(contentType == null ? OutboxMessage.DEFAULT_CONTENT_TYPE : contentType)
        .addHeaders(headers(document.get("headers")))
        .dedupKey(text(document, "dedupKey"))
        .correlationId(text(document, "correlationId"))
        .availableAt(time(document, "available"))
        .expiresAt(time(document, "expires"))
        .maxAttempts(typed(document, "maxAttempts", Integer.class, "an int"))
        .build();
  }

  private static @Nullable String text(Document document, String field) {
    return typed(document, field, String.class, "a string");
  }

  private static <V> @Nullable V typed(
      Document document, String field, Class<V> type, String what) {
    Object value = document.get(field);
    if (value != null && !type.isInstance(value)) {
      throw new IllegalArgumentException(
          "%s is not %s: it is of type %s"
              .formatted(field, what, value.getClass().getSimpleName()));
    }
    return type.cast(value);
  }

  private static <V> V required(String field, @Nullable V value) {
    if (value == null) {
      throw new IllegalArgumentException("%s is missing or not of its type".formatted(field));
    }
    return value;
  }

  private static byte[] payload(@Nullable Object value) {
    if (value instanceof Binary binary) {
      return binary.getData();
    }
    if (value instanceof String text) {
      return text.getBytes(StandardCharsets.UTF_8);
    }
    throw new IllegalArgumentException("payload is neither binary data nor a string");
  }

  private static List<Header> headers(@Nullable Object value) {
    if (value == null) {
      return List.of();
    }
    List<Header> headers = new ArrayList<>();
    if (value instanceof Document map) {
      map.forEach((name, text) -> headers.add(header(name, text)));
    } else if (value instanceof List<?> list) {
      list.forEach(
          pair ->
              headers.add(
                  pair instanceof Document header
                      ? header(header.get("name"), header.get("value"))
                      : header(null, null)));
    } else {
      header(null, null);
    }
    return headers;
  }

  private static Header header(@Nullable Object name, @Nullable Object value) {
    if (name instanceof String text && value instanceof String content) {
      return new Header(text, content);
    }
    throw new IllegalArgumentException(
        "headers are not [{name: \"…\", value: \"…\"}, …] or {name: \"value\", …} with texts only");
  }

  private static @Nullable Instant time(Document document, String name) {
    Date date = typed(document, name + "At", Date.class, "a date");
    if (document.get(name + "Micros") instanceof Number micros && date != null) {
      return Instant.EPOCH.plus(micros.longValue(), ChronoUnit.MICROS);
    }
    return date == null ? null : date.toInstant();
  }
}
