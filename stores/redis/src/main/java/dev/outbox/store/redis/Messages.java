package dev.outbox.store.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A message as a hash of Redis: fields by name, texts in UTF-8, times in microseconds. */
final class Messages {
  private static final List<String> NUMBERS =
      List.of("createdAt", "attempts", "availableAt", "expiresAt");

  private Messages() {}

  /** As {@code append.lua} takes it. */
  static void add(Arguments to, OutboxMessage m) {
    List<byte[]> fields = new ArrayList<>();
    put(fields, "id", m.id().toString());
    put(fields, "aggregateType", m.aggregateType());
    put(fields, "aggregateId", m.aggregateId());
    put(fields, "eventType", m.eventType());
    put(fields, "partitionKey", m.partitionKey());
    put(fields, "contentType", m.contentType());
    put(fields, "headers", m.headers().isEmpty() ? null : Header.toJson(m.headers()));
    put(fields, "dedupKey", m.dedupKey());
    put(fields, "correlationId", m.correlationId());
    put(fields, "availableAt", m.availableAt() == null ? null : micros(m.availableAt()));
    put(fields, "expiresAt", m.expiresAt() == null ? null : micros(m.expiresAt()));
    put(fields, "expireAfter", m.expireAfter() == null ? null : micros(m.expireAfter()));
    put(fields, "maxAttempts", m.maxAttempts() == null ? null : m.maxAttempts().toString());
    fields.add("payload".getBytes(UTF_8));
    fields.add(m.payload());
    if (m.deliverAfter() == null) {
      to.add("");
    } else {
      to.addMicros(m.deliverAfter());
    }
    to.add(fields.size() / 2);
    fields.forEach(to::add);
  }

  private static String micros(Instant time) {
    return Long.toString(Arguments.micros(time));
  }

  private static String micros(Duration time) {
    return Long.toString(Arguments.micros(time));
  }

  private static void put(List<byte[]> fields, String name, @Nullable String value) {
    if (value != null) {
      fields.add(name.getBytes(UTF_8));
      fields.add(value.getBytes(UTF_8));
    }
  }

  /**
   * A message that a script returned, with what it is known by.
   *
   * @param id as it is stored, which need not be a UUID; empty when there is none
   */
  record Found(byte[] id, StoredMessage message, Map<String, byte[]> fields) {

    /** The key's bytes, one a character: they need not be a text. */
    String rawKey() {
      return new String(fields.getOrDefault("key", new byte[0]), ISO_8859_1);
    }

    @Nullable String text(String field) {
      byte[] value = fields.get(field);
      return value == null ? null : new String(value, UTF_8);
    }

    /** As it is claimed at this time of the server. */
    Found at(Instant now) {
      Instant expiresAt = time("expiresAt");
      return expiresAt == null || expiresAt.isAfter(now)
          ? this
          : new Found(id, message.asExpired(), fields);
    }

    @Nullable Instant time(String field) {
      Long micros = numberIn(text(field));
      return micros == null ? null : instant(micros);
    }
  }

  /** Reads a sequence and the fields of its hash. */
  static Found read(Reply reply) {
    long sequence = Long.parseLong(reply.text(0));
    Reply flat = reply.list(1);
    Map<String, byte[]> fields = new HashMap<>();
    for (int i = 0; i + 1 < flat.size(); i += 2) {
      byte[] value = flat.bytes(i + 1);
      fields.put(flat.text(i), value == null ? new byte[0] : value);
    }
    Fields texts = new Fields(fields);
    Long createdAt = numberIn(texts.text("createdAt"));
    Long attempts = numberIn(texts.text("attempts"));
    StoredMessage message =
        StoredMessage.decode(
            sequence,
            String.valueOf(texts.text("key")),
            texts.text("aggregateType"),
            attempts(attempts),
            createdAt == null ? Instant.EPOCH : instant(createdAt),
            texts::message);
    byte[] id = fields.get("id");
    return new Found(id == null ? new byte[0] : id, message, fields);
  }

  static int attempts(@Nullable Long counted) {
    return counted == null ? 0 : (int) Math.max(0, Math.min(Integer.MAX_VALUE, counted));
  }

  /** Null: there is none. What others have written need not be digits. */
  static @Nullable Long numberIn(@Nullable String digits) {
    try {
      return digits == null ? null : Long.valueOf(digits);
    } catch (NumberFormatException e) {
      return null;
    }
  }

  static Instant instant(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }

  private record Fields(Map<String, byte[]> all) {

    @Nullable String text(String field) {
      byte[] value = all.get(field);
      return value == null ? null : new String(value, UTF_8);
    }

    private byte[] required(String field) {
      byte[] value = all.get(field);
      if (value == null) {
        throw new IllegalArgumentException(field + " is missing");
      }
      return value;
    }

    private void requireNumber(String field) {
      String value = text(field);
      if (value != null && numberIn(value) == null) {
        throw new IllegalArgumentException(field + " is " + value + ", which is no number");
      }
    }

    private String requiredText(String field) {
      return new String(required(field), UTF_8);
    }

    OutboxMessage message() {
      NUMBERS.forEach(this::requireNumber);
      String availableAt = text("availableAt");
      String expiresAt = text("expiresAt");
      String contentType = text("contentType");
      String headers = text("headers");
      String maxAttempts = text("maxAttempts");
      return OutboxMessage.builder()
          .id(UUID.fromString(requiredText("id")))
          .aggregate(requiredText("aggregateType"), requiredText("aggregateId"))
          .eventType(requiredText("eventType"))
          .partitionKey(text("partitionKey"))
          .payload(required("payload"))
          .contentType(contentType == null ? OutboxMessage.DEFAULT_CONTENT_TYPE : contentType)
          .addHeaders(headers == null ? List.of() : Header.fromJson(headers))
          .dedupKey(text("dedupKey"))
          .correlationId(text("correlationId"))
          .availableAt(availableAt == null ? null : instant(Long.parseLong(availableAt)))
          .expiresAt(expiresAt == null ? null : instant(Long.parseLong(expiresAt)))
          .maxAttempts(maxAttempts == null ? null : Integer.valueOf(maxAttempts))
          .build();
    }
  }
}
