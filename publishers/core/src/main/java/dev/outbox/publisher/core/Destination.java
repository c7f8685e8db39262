package dev.outbox.publisher.core;

import static java.util.Objects.requireNonNull;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.PermanentOutboxException;
import dev.outbox.spi.publisher.PublisherProvider;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where a message goes at its broker, in the same words for all brokers: to a topic, an exchange, a
 * routing key, a subject or a path. By default that is the {@linkplain #aggregateType() aggregate
 * type}; it can be a {@linkplain #pattern pattern}, also for single aggregate types, or a
 * {@linkplain #by function}. Immutable; safe for use by many threads.
 *
 * <p>A pattern is text with placeholders: {@code shop.{aggregateType}}.
 *
 * <table>
 *   <caption>Placeholders</caption>
 *   <tr><td>{@code {aggregateType}}</td><td>{@link OutboxMessage#aggregateType()}</td></tr>
 *   <tr><td>{@code {aggregateId}}</td><td>{@link OutboxMessage#aggregateId()}</td></tr>
 *   <tr><td>{@code {eventType}}</td><td>{@link OutboxMessage#eventType()}</td></tr>
 *   <tr><td>{@code {recordKey}}</td><td>{@link OutboxMessage#recordKey()}</td></tr>
 *   <tr><td>{@code {header.NAME}}</td><td>the last header of that name</td></tr>
 * </table>
 *
 * <p>A message that lacks what its pattern asks for has no destination and is rejected (P3); it
 * never goes to one whose name was put together without it.
 */
public final class Destination {

  /** What properties call it, unless a broker has names of two kinds. */
  public static final String PROPERTY = "destination";

  private static final String HEADER = "header.";
  private static final Pattern PLACEHOLDER = Pattern.compile("\\{([^{}]*)}");

  private final Rule general;
  private final Map<String, Rule> byType;
  private final UnaryOperator<String> escaping;

  /** Gives a message's destination, or a part of it; what it fills in is escaped. */
  @FunctionalInterface
  private interface Naming {
    @Nullable String name(StoredMessage message, UnaryOperator<String> escaping);
  }

  /**
   * @param text for people
   */
  private record Rule(String text, Naming naming) {
    @Override
    public String toString() {
      return text;
    }
  }

  private Destination(Rule general, Map<String, Rule> byType, UnaryOperator<String> escaping) {
    this.general = general;
    this.byType = byType;
    this.escaping = escaping;
  }

  /** Each message's aggregate type. */
  public static Destination aggregateType() {
    return pattern("{aggregateType}");
  }

  /**
   * A text in which placeholders are filled in from the message.
   *
   * @throws IllegalArgumentException when it is blank, or naming a placeholder that does not exist
   */
  public static Destination pattern(String pattern) {
    return of(template("the pattern", pattern));
  }

  /**
   * Whatever a function gives, taken as it is. Where it gives null or a blank name, or throws a
   * {@link PermanentOutboxException}, the message is rejected; where it throws anything else, the
   * message has failed.
   *
   * @param function quickly computed, safe for use by many threads
   */
  public static Destination by(Function<StoredMessage, ? extends @Nullable String> function) {
    requireNonNull(function, "function");
    return of(new Rule("a function", (message, escaping) -> function.apply(message)));
  }

  private static Destination of(Rule rule) {
    return new Destination(rule, Map.of(), UnaryOperator.identity());
  }

  /**
   * Reads {@link #PROPERTY}; by default the aggregate type.
   *
   * @throws IllegalArgumentException naming the property, its value and what to do
   */
  public static Destination fromProperties(Map<String, String> properties) {
    return fromProperties(properties, PROPERTY, "{aggregateType}");
  }

  /**
   * Reads the pattern in the property {@code word}, and those of single aggregate types in {@code
   * word.<aggregateType>}; other properties are left alone.
   *
   * @param word {@link #PROPERTY}, or the broker's word for its second kind of name
   * @param otherwise the pattern where the properties have none
   * @throws IllegalArgumentException naming the property, its value and what to do
   */
  public static Destination fromProperties(
      Map<String, String> properties, String word, String otherwise) {
    Destination destination =
        of(template("the property " + word, properties.getOrDefault(word, otherwise)));
    String named = word + ".";
    for (Map.Entry<String, String> property : properties.entrySet()) {
      String name = property.getKey();
      if (name.startsWith(named)) {
        String type = name.substring(named.length());
        Rule rule = template("the property " + name, property.getValue());
        destination = destination.forType(type, rule);
      }
    }
    return destination;
  }

  /** The names that {@link #fromProperties} reads, as {@link PublisherProvider#properties()}. */
  public static Set<String> properties(String word) {
    return Set.of(word, word + ".");
  }

  /**
   * The same, but for messages of one aggregate type.
   *
   * @param pattern as for {@link #pattern}
   */
  public Destination forType(String aggregateType, String pattern) {
    return forType(aggregateType, template("the pattern of " + aggregateType, pattern));
  }

  private Destination forType(String aggregateType, Rule rule) {
    if (aggregateType.isBlank()) {
      throw new IllegalArgumentException(
          "the destination %s has no aggregate type: name one, or leave it out".formatted(rule));
    }
    Map<String, Rule> more = new HashMap<>(byType);
    more.put(aggregateType, rule);
    return new Destination(general, Map.copyOf(more), escaping);
  }

  /**
   * The same, with the values of placeholders changed so that they mean nothing to the broker, as a
   * slash in a URL would. A publisher does this; the text around the placeholders, and what a
   * function gives, stay as they are.
   */
  public Destination escaping(UnaryOperator<String> escape) {
    return new Destination(general, byType, requireNonNull(escape, "escape"));
  }

  /**
   * The destination's name, never blank.
   *
   * @throws MissingException when the message has none; says why, and what its result is
   */
  public String of(StoredMessage message) {
    Rule rule = byType.getOrDefault(message.message().aggregateType(), general);
    String name;
    try {
      name = rule.naming.name(message, escaping);
    } catch (PermanentOutboxException e) {
      throw new MissingException(message, e.getMessage(), Result::rejected, e);
    } catch (RuntimeException e) {
      throw new MissingException(message, "its function threw " + e, Result::failed, e);
    }
    if (name == null || name.isBlank()) {
      String given = "its function gave " + (name == null ? "null" : "a blank name");
      throw new MissingException(message, given, Result::rejected, null);
    }
    return name;
  }

  @Override
  public String toString() {
    return byType.isEmpty() ? general.toString() : byType + ", otherwise " + general;
  }

  /** A message has no destination. */
  public static final class MissingException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final transient Result result;

    private MissingException(
        StoredMessage message,
        @Nullable String why,
        Function<String, Result> result,
        @Nullable Throwable cause) {
      super(message + " has no destination: " + why, cause);
      this.result = result.apply(String.valueOf(getMessage()));
    }

    /** What a publisher says of the message: rejected, or failed. */
    public Result result() {
      return result;
    }
  }

  /**
   * Reads a pattern.
   *
   * @param what for errors
   */
  private static Rule template(String what, String pattern) {
    if (pattern.isBlank()) {
      throw new IllegalArgumentException(
          "%s is blank: give a name, or leave it out".formatted(what));
    }
    List<Naming> parts = new ArrayList<>();
    Matcher placeholder = PLACEHOLDER.matcher(pattern);
    int end = 0;
    for (; placeholder.find(); end = placeholder.end()) {
      addText(what, pattern, pattern.substring(end, placeholder.start()), parts);
      parts.add(part(what, pattern, placeholder.group(1)));
    }
    addText(what, pattern, pattern.substring(end), parts);
    return new Rule(pattern, parts.size() == 1 ? parts.get(0) : together(parts));
  }

  private static Naming together(List<Naming> parts) {
    return (message, escaping) -> {
      StringBuilder name = new StringBuilder();
      parts.forEach(part -> name.append(part.name(message, escaping)));
      return name.toString();
    };
  }

  private static void addText(String what, String pattern, String text, List<Naming> parts) {
    if (text.contains("{") || text.contains("}")) {
      throw new IllegalArgumentException(
          "%s is %s, where a brace has no partner: write placeholders as {aggregateType}"
              .formatted(what, pattern));
    }
    if (!text.isEmpty()) {
      parts.add((message, escaping) -> text);
    }
  }

  private static Naming part(String what, String pattern, String name) {
    if (name.startsWith(HEADER) && name.length() > HEADER.length()) {
      String header = name.substring(HEADER.length());
      return (stored, escaping) -> escaping.apply(header(stored.message(), header, pattern));
    }
    Function<OutboxMessage, String> field =
        switch (name) {
          case "aggregateType" -> OutboxMessage::aggregateType;
          case "aggregateId" -> OutboxMessage::aggregateId;
          case "eventType" -> OutboxMessage::eventType;
          case "recordKey" -> OutboxMessage::recordKey;
          default ->
              throw new IllegalArgumentException(
                  "%s is %s, and there is no placeholder {%s}: take {aggregateType}, {aggregateId}, {eventType}, {recordKey} or {header.NAME}"
                      .formatted(what, pattern, name));
        };
    return (stored, escaping) -> escaping.apply(field.apply(stored.message()));
  }

  private static String header(OutboxMessage message, String name, String pattern) {
    String value = "";
    for (Header header : message.headers()) {
      value = header.name().equals(name) ? header.value() : value;
    }
    if (value.isBlank()) {
      throw new PermanentOutboxException(
          "%s needs the header %s, which is missing or blank".formatted(pattern, name));
    }
    return value;
  }
}
