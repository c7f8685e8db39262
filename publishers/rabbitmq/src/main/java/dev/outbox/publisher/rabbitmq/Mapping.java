package dev.outbox.publisher.rabbitmq;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.rabbitmq.client.AMQP;
import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.store.StoredMessage;
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
 * @param exchange of a message; {@link #DEFAULT_EXCHANGE} for the one without a name
 * @param routingKey of a message
 * @param body of a message: its payload, but in tests
 */
record Mapping(Destination exchange, Destination routingKey, Function<StoredMessage, byte[]> body) {

  /** RabbitMQ's own word for the exchange without a name, where a name is needed. */
  static final String DEFAULT_EXCHANGE = "amq.default";

  /** What AMQP calls a short string: all its names and most properties. */
  static final int SHORT_BYTES = 255;

  static final String KEY = "outbox-key";
  static final String HEADERS = "outbox-headers";
  static final String CONTENT_TYPE = "content-type";
  private static final String OURS = "outbox-";

  /** RabbitMQ takes these for further routing keys, and refuses them as texts. */
  private static final Set<String> RABBITMQS = Set.of("CC", "BCC");

  private static final int PERSISTENT = 2;

  /** A message as RabbitMQ's client takes it. */
  record Outgoing(Place place, AMQP.BasicProperties properties, byte[] body) {}

  /**
   * The message as it is sent.
   *
   * @throws Destination.MissingException when it has no exchange or no routing key
   */
  Outgoing of(StoredMessage stored) {
    OutboxMessage message = stored.message();
    String to = exchange.of(stored);
    Place place = new Place(to.equals(DEFAULT_EXCHANGE) ? "" : to, routingKey.of(stored));
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
    return new Outgoing(place, properties, body.apply(stored));
  }

  private static Map<String, Object> headers(StoredMessage stored) {
    OutboxMessage message = stored.message();
    Map<String, Object> table = new LinkedHashMap<>();
    boolean whole = message.headers().size() <= 1; // a table has no order
    for (Header header : message.headers()) {
      boolean simple = isSimple(header.name());
      whole &= simple;
      if (simple) {
        table.put(header.name(), header.value());
      }
    }
    if (!whole) {
      table.put(HEADERS, Header.toJson(message.headers()));
    }
    table.put(KEY, message.recordKey());
    Attributes.forEach(stored, table::put);
    return table;
  }

  private static boolean isSimple(String name) {
    return isShort(name)
        && !name.startsWith(OURS)
        && !name.equals(CONTENT_TYPE)
        && !RABBITMQS.contains(name);
  }

  private static @Nullable String ifShort(@Nullable String text) {
    return text != null && isShort(text) ? text : null;
  }

  /** Whether it is one of AMQP's short strings. */
  static boolean isShort(String text) {
    return text.length() * 3 <= SHORT_BYTES || text.getBytes(UTF_8).length <= SHORT_BYTES;
  }

  /** Names that AMQP has no room for, of what {@link #of} gives. */
  static @Nullable String tooLong(Place place) {
    for (String name : List.of(place.exchange(), String.valueOf(place.routingKey()))) {
      if (!isShort(name)) {
        return "%s has %s bytes, and AMQP has room for %s: choose a shorter one"
            .formatted(
                name.equals(place.exchange()) ? "the exchange" : "the routing key",
                name.getBytes(UTF_8).length,
                SHORT_BYTES);
      }
    }
    return null;
  }
}
