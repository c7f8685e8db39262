package dev.outbox.spring.modulith;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.InvalidMessageException;
import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.payload.OutboxEvents;
import dev.outbox.payload.PayloadSerializer;
import dev.outbox.spring.EventRecorder;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.modulith.events.EventExternalizationConfiguration;
import org.springframework.modulith.events.RoutingTarget;
import org.springframework.modulith.events.support.BrokerRouting;
import org.springframework.util.ClassUtils;

/**
 * Makes messages of events, as Spring Modulith's own transport for Kafka makes records. The target
 * is the topic, and so the type of the aggregate. The routing key is the record's key, and so the
 * aggregate's id; an event without one has no order. Expressions are evaluated on what the event
 * was mapped to. Headers come from the configuration, or from the {@link Message} that the event
 * was mapped to.
 */
final class ExternalizedMessages {
  private static final boolean MESSAGING =
      ClassUtils.isPresent(
          "org.springframework.messaging.Message", ExternalizedMessages.class.getClassLoader());
  private static final String EXPRESSION = "#{";

  // Those of Spring for Apache Kafka's KafkaHeaders.
  private static final String TEMPLATE_PREFIX = "kafka_";
  private static final String TOPIC = "kafka_topic";
  private static final String KEY = "kafka_messageKey";

  private final EventExternalizationConfiguration configuration;
  private final EvaluationContext context;
  private final OutboxEvents events;

  /**
   * @param context of expressions in targets and keys
   */
  ExternalizedMessages(
      EventExternalizationConfiguration configuration,
      PayloadSerializer serializer,
      EvaluationContext context) {
    this.configuration = configuration;
    this.context = context;
    this.events =
        OutboxEvents.builder(
                (about, draft) -> serializer.serialize(about, ((Draft) draft).payload()))
            .event(Draft.class, (message, draft) -> draft.describe(message))
            .build();
  }

  /**
   * The message of an event.
   *
   * @throws TransientOutboxException what the serializer says so, as of a registry that is away
   * @throws InvalidMessageException when the event cannot become a message
   */
  OutboxMessage of(Object event) {
    try {
      return events.message(draft(event));
    } catch (TransientOutboxException e) {
      throw e;
    } catch (RuntimeException e) {
      throw new InvalidMessageException(
          "the event %s cannot be externalized: %s".formatted(event.getClass().getName(), text(e)),
          e);
    }
  }

  private static String text(RuntimeException e) {
    return e instanceof InvalidMessageException ? String.valueOf(e.getMessage()) : e.toString();
  }

  /**
   * A record for a broker, before there is one.
   *
   * @param key null for one without an order
   */
  private record Draft(
      String eventType,
      String target,
      @Nullable String key,
      Object payload,
      Map<String, Object> headers) {

    void describe(OutboxMessage.Builder message) {
      message.eventType(eventType);
      if (key == null) {
        UUID id = UUID.randomUUID();
        message.id(id).aggregate(target, id.toString()).unordered();
      } else {
        message.aggregate(target, key);
      }
      headers.forEach((name, value) -> message.header(name, ExternalizedMessages.text(value)));
    }
  }

  private Draft draft(Object event) {
    Object mapped = configuration.map(event);
    if (mapped == null) {
      throw new InvalidMessageException("its mapping returns null: return what is to be sent");
    }
    RoutingTarget target = configuration.determineTarget(event);
    BrokerRouting routing = BrokerRouting.of(target, context);
    Map<String, Object> headers = headers(mapped);
    Object topic = headers.remove(TOPIC);
    Object key = headers.remove(KEY);
    headers.keySet().forEach(ExternalizedMessages::checkHeader);
    return new Draft(
        event.getClass().getSimpleName(),
        evaluated("target", topic == null ? routing.getTarget(mapped) : text(topic)),
        key == null ? key(target, routing, mapped) : text(key),
        payload(mapped),
        headers);
  }

  private static @Nullable String key(RoutingTarget target, BrokerRouting routing, Object mapped) {
    if (target.getKey() == null) { // or the routing would give the target's expression
      return null;
    }
    String key = routing.getKey(mapped);
    if (key == null) {
      throw new InvalidMessageException(
          "its routing key %s is null: give it one, or route it without a key if it needs no order"
              .formatted(target.getKey()));
    }
    return evaluated("key", key);
  }

  /** Refuses an expression that would not be evaluated: all events would have it as their key. */
  private static String evaluated(String part, String text) {
    if (text.contains(EXPRESSION)) {
      throw new InvalidMessageException(
          "its routing %s %s has an expression that Spring Modulith does not evaluate, because the %s does not begin with it: write it as one, like #{'order-' + #this.id()}"
              .formatted(part, text, part));
    }
    return text;
  }

  private Map<String, Object> headers(Object mapped) {
    if (!(MESSAGING && mapped instanceof Message<?> message)) {
      return present(configuration.getHeadersFor(mapped));
    }
    Map<String, Object> headers = present(message.getHeaders());
    headers.remove(MessageHeaders.ID);
    headers.remove(MessageHeaders.TIMESTAMP);
    return headers;
  }

  private static Map<String, Object> present(Map<String, Object> headers) {
    Map<String, Object> present = new HashMap<>(headers);
    present.values().removeIf(Objects::isNull);
    return present;
  }

  private static Object payload(Object mapped) {
    return EventRecorder.checkedContent(
        MESSAGING && mapped instanceof Message<?> message ? message.getPayload() : mapped);
  }

  private static void checkHeader(String name) {
    if (name.startsWith(TEMPLATE_PREFIX)) {
      throw new InvalidMessageException(
          "its header %s is an instruction for Spring's KafkaTemplate, of which the outbox follows only %s and %s: leave it out"
              .formatted(name, TOPIC, KEY));
    }
  }

  private static String text(Object value) {
    return value instanceof byte[] bytes ? new String(bytes, UTF_8) : value.toString();
  }
}
