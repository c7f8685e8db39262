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

  private static final byte[] NOTHING = {};

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

  /** A message that a script returned, and the fields of its hash. */
  record Found(StoredMessage message, Fields fields) {

    /** As it is claimed at this time of the server. */
    Found at(Instant now) {
      return new Found(message.claimedAt(now), fields);
    }
  }

  /** Reads a sequence and the fields of its hash. */
  static Found read(Reply reply) {
    Reply flat = reply.list(1);
    Map<String, byte[]> all = new HashMap<>();
    for (int i = 0; i + 1 < flat.size(); i += 2) {
      byte[] value = flat.bytes(i + 1);
      all.put(flat.text(i), value == null ? NOTHING : value);
    }
    Fields fields = new Fields(all);
    Instant createdAt = fields.time("createdAt");
    StoredMessage message =
        StoredMessage.decode(
            Long.parseLong(reply.text(0)),
            String.valueOf(fields.text("key")),
            fields.text("aggregateType"),
            attempts(numberIn(fields.text("attempts"))),
            createdAt == null ? Instant.EPOCH : createdAt,
            fields::message);
    return new Found(message, fields);
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

  /** The fields of a hash, as they are stored. */
  record Fields(Map<String, byte[]> all) {

    /** As it is stored, which need not be a UUID; empty when there is none. */
    byte[] id() {
      return all.getOrDefault("id", NOTHING);
    }

    /** The key's bytes, one a character: they need not be a text. */
    String rawKey() {
      return new String(all.getOrDefault("key", NOTHING), ISO_8859_1);
    }

    @Nullable String text(String field) {
      byte[] value = all.get(field);
      return value == null ? null : new String(value, UTF_8);
    }

    @Nullable Instant time(String field) {
      Long micros = numberIn(text(field));
      return micros == null ? null : instant(micros);
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
          .availableAt(time("availableAt"))
          .expiresAt(time("expiresAt"))
          .maxAttempts(maxAttempts == null ? null : Integer.valueOf(maxAttempts))
          .build();
    }
  }
}
