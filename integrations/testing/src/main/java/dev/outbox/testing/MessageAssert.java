package dev.outbox.testing;

import static java.util.Objects.requireNonNull;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.assertj.core.api.AbstractAssert;
import org.jspecify.annotations.Nullable;

/**
 * The messages that fit all conditions so far; there is at least one. Each method keeps those that
 * also fit its condition. When none is left it fails, and shows the conditions and all messages.
 */
public final class MessageAssert extends AbstractAssert<MessageAssert, List<OutboxMessage>> {
  private final List<OutboxMessage> all;
  private final String verb;
  private final List<String> asked;

  /**
   * @param verb what happened to them, as {@code appended}
   */
  MessageAssert(List<OutboxMessage> all, String verb) {
    this(all, all, verb, List.of());
  }

  private MessageAssert(
      List<OutboxMessage> left, List<OutboxMessage> all, String verb, List<String> asked) {
    super(left, MessageAssert.class);
    this.all = all;
    this.verb = verb;
    this.asked = asked;
  }

  MessageAssert ofType(String eventType) {
    return keep("of type " + eventType, message -> message.eventType().equals(eventType));
  }

  /** The message is of this aggregate. */
  public MessageAssert ofAggregate(String type, String id) {
    return keep(
        "of aggregate %s %s".formatted(type, id),
        message -> message.aggregateType().equals(type) && message.aggregateId().equals(id));
  }

  /** The message has this {@link OutboxMessage#key()}: a partition key, or as {@code order/42}. */
  public MessageAssert withKey(String key) {
    return keep("with key " + key, message -> message.key().equals(key));
  }

  /**
   * The payload is the same JSON: the order of an object's members, white space and how a number is
   * written do not count.
   *
   * @throws IllegalArgumentException when what is expected is no JSON
   */
  public MessageAssert withJson(String json) {
    Object expected = Json.expected(json);
    return keep(
        "with JSON " + json, message -> Json.parse(message.payloadAsString()).equals(expected));
  }

  /** The payload is exactly this text, in UTF-8. */
  public MessageAssert withPayload(String text) {
    return keep(
        "with payload " + text,
        message -> Arrays.equals(message.payload(), text.getBytes(StandardCharsets.UTF_8)));
  }

  /** The payload is exactly these bytes. */
  public MessageAssert withPayload(byte[] payload) {
    byte[] expected = payload.clone();
    return keep(
        "with a payload of %s bytes that were given".formatted(expected.length),
        message -> Arrays.equals(message.payload(), expected));
  }

  /** The message has this header, beside any others. */
  public MessageAssert withHeader(String name, String value) {
    Header header = new Header(name, value);
    return keep(
        "with header %s=%s".formatted(name, value), message -> message.headers().contains(header));
  }

  /** The message has this {@link OutboxMessage#dedupKey()}; null: none. */
  public MessageAssert withDedupKey(@Nullable String dedupKey) {
    return keep(
        "with dedup key " + dedupKey, message -> Objects.equals(message.dedupKey(), dedupKey));
  }

  /**
   * The message fits whatever else is asked, as of its content type or its delay.
   *
   * @param description for a failure, as {@code "with a total above 10"}
   */
  public MessageAssert fitting(String description, Predicate<OutboxMessage> predicate) {
    return keep(requireNonNull(description, "description"), requireNonNull(predicate, "predicate"));
  }

  /** Exactly one fits all that was said so far. */
  public MessageAssert once() {
    return times(1);
  }

  /** Exactly so many fit all that was said so far. */
  public MessageAssert times(int count) {
    if (actual.size() != count) {
      failWithMessage(
          "%s",
          "%s and not %s messages were %s that are all of this:%s%s"
              .formatted(actual.size(), count, verb, lines(asked), shown(actual)));
    }
    return this;
  }

  /** Those that fit all that was said so far, in order; unmodifiable. */
  public List<OutboxMessage> messages() {
    return actual;
  }

  void haveNone(String eventType) {
    List<OutboxMessage> found =
        all.stream().filter(message -> message.eventType().equals(eventType)).toList();
    if (!found.isEmpty()) {
      failWithMessage(
          "%s",
          "%s messages of type %s were %s, and there should be none.%s"
              .formatted(found.size(), eventType, verb, shown(found)));
    }
  }

  void areExactly(List<String> eventTypes) {
    List<String> types = all.stream().map(OutboxMessage::eventType).toList();
    if (!types.equals(eventTypes)) {
      failWithMessage(
          "%s",
          "Of these types, in this order, should be all messages that were %s: %s.%s"
              .formatted(verb, eventTypes, shown(List.of())));
    }
  }

  private MessageAssert keep(String what, Predicate<OutboxMessage> fits) {
    List<String> now = new ArrayList<>(asked);
    now.add(what);
    List<OutboxMessage> left = actual.stream().filter(fits).toList();
    if (left.isEmpty()) {
      failWithMessage(
          "%s",
          "No message was %s that is all of this:%s%s"
              .formatted(verb, lines(now), shown(asked.isEmpty() ? List.of() : actual)));
    }
    return new MessageAssert(left, all, verb, now).as(descriptionText());
  }

  private static String lines(List<String> lines) {
    return lines.stream().map(line -> "%n  ".formatted() + line).collect(Collectors.joining());
  }

  /** All messages, with a mark at these, which come near to what was asked. */
  private String shown(List<OutboxMessage> near) {
    if (all.isEmpty()) {
      return "%nNothing was %s.".formatted(verb);
    }
    String head =
        near.isEmpty() || asked.isEmpty()
            ? "%nWhat was %s:".formatted(verb)
            : "%nWhat was %s (* is %s):".formatted(verb, String.join(", ", asked));
    return all.stream()
        .map(
            message ->
                "%n%s %s".formatted(near.contains(message) ? "*" : " ", Shown.message(message)))
        .collect(Collectors.joining("", head, ""));
  }
}
