package dev.outbox.publisher.rabbitmq;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.rabbitmq.client.AMQP;
import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.HeaderCodec;
import dev.outbox.spi.StoredMessage;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * From a message to RabbitMQ's; see {@link RabbitPublisher} for what is where (P4).
 *
 * @param exchange of a message
 * @param routingKey of a message
 * @param body of a message
 */
record Mapping(
    Function<StoredMessage, String> exchange,
    Function<StoredMessage, String> routingKey,
    Function<StoredMessage, byte[]> body) {

  /** What AMQP calls a short string: all its names and most properties. */
  static final int SHORT_BYTES = 255;

  static final String KEY = "outbox-key";
  static final String HEADERS = "outbox-headers";
  static final String CONTENT_TYPE = "content-type";
  private static final String OURS = "outbox-";

  /** RabbitMQ takes these for further routing keys, and refuses them as texts. */
  private static final Set<String> RABBITMQS = Set.of("CC", "BCC");

  private static final int PERSISTENT = 2;

  /**
   * The message as it is sent.
   *
   * @throws IllegalArgumentException when a function of the user's gives nothing usable
   */
  Outgoing of(StoredMessage stored) {
    OutboxMessage message = stored.message();
    Destination destination =
        new Destination(
            chosen("exchange", stored, exchange), chosen("routing key", stored, routingKey));
    AMQP.BasicProperties properties =
        new AMQP.BasicProperties.Builder()
            .deliveryMode(PERSISTENT)
            .messageId(message.id().toString())
            .timestamp(Date.from(stored.createdAt()))
            .type(ifShort(message.eventType()))
            .contentType(ifShort(message.contentType()))
            .correlationId(ifShort(message.correlationId()))
            .headers(headers(stored))
            .build();
    return new Outgoing(destination, properties, chosen("body", stored, body));
  }

  private static Map<String, Object> headers(StoredMessage stored) {
    OutboxMessage message = stored.message();
    Map<String, Object> table = new LinkedHashMap<>();
    boolean whole = true;
    for (Header header : message.headers()) {
      boolean simple = isSimple(header.name());
      whole &= simple && !table.containsKey(header.name());
      if (simple) {
        table.put(header.name(), header.value());
      }
    }
    if (!whole) {
      table.put(HEADERS, HeaderCodec.encode(message.headers()));
    }
    table.put(KEY, message.recordKey());
    table.put("outbox-id", message.id().toString());
    table.put("outbox-aggregate-type", message.aggregateType());
    table.put("outbox-aggregate-id", message.aggregateId());
    table.put("outbox-event-type", message.eventType());
    put(table, CONTENT_TYPE, message.contentType());
    table.put("outbox-created-at", stored.createdAt().toString());
    table.put("outbox-sequence", Long.toString(stored.sequence()));
    put(table, "outbox-dedup-key", message.dedupKey());
    put(table, "outbox-correlation-id", message.correlationId());
    return table;
  }

  private static boolean isSimple(String name) {
    return isShort(name)
        && !name.startsWith(OURS)
        && !name.equals(CONTENT_TYPE)
        && !RABBITMQS.contains(name);
  }

  private static void put(Map<String, Object> table, String name, @Nullable String value) {
    if (value != null) {
      table.put(name, value);
    }
  }

  private static @Nullable String ifShort(@Nullable String text) {
    return text != null && isShort(text) ? text : null;
  }

  /** Whether it is one of AMQP's short strings. */
  static boolean isShort(String text) {
    return text.length() * 3 <= SHORT_BYTES || text.getBytes(UTF_8).length <= SHORT_BYTES;
  }

  private static <T> T chosen(String what, StoredMessage stored, Function<StoredMessage, T> by) {
    T given;
    try {
      given = by.apply(stored);
    } catch (RuntimeException e) {
      throw new IllegalArgumentException("the %s of %s threw %s".formatted(what, stored, e), e);
    }
    if (given == null) {
      throw new IllegalArgumentException("the %s of %s is missing".formatted(what, stored));
    }
    return given;
  }

  /** Names that AMQP has no room for, of what {@link #of} gives. */
  static @Nullable String tooLong(Destination destination) {
    for (String name : List.of(destination.exchange(), String.valueOf(destination.routingKey()))) {
      if (!isShort(name)) {
        return "%s has %d bytes, and AMQP has room for %d: choose a shorter one with a function"
            .formatted(
                name.equals(destination.exchange()) ? "the exchange" : "the routing key",
                name.getBytes(UTF_8).length,
                SHORT_BYTES);
      }
    }
    return null;
  }
}
