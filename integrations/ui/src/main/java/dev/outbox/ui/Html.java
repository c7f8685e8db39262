package dev.outbox.ui;

import dev.outbox.Texts;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Markup. A text gets into it escaped, and in no other way: messages, keys and errors are written
 * by others.
 */
final class Html {
  private static final Set<String> WITHOUT_END = Set.of("input", "link", "meta");

  private final StringBuilder markup = new StringBuilder();

  private Html() {}

  /** An attribute: null leaves it out, true gives it no value. */
  record Attribute(String name, @Nullable Object value) {}

  static Attribute at(String name, @Nullable Object value) {
    return new Attribute(name, value);
  }

  static Attribute css(String classes) {
    return at("class", classes);
  }

  /**
   * An element.
   *
   * @param tag as in our code, like the names of attributes: both stand there as they are
   * @param content attributes; markup, several in an {@link Iterable}; anything else is text
   */
  static Html el(String tag, @Nullable Object... content) {
    Html made = new Html();
    made.markup.append('<').append(tag);
    Stream.of(content)
        .flatMap(one -> one instanceof Attribute attribute ? Stream.of(attribute) : Stream.empty())
        .forEach(made::attribute);
    made.markup.append('>');
    if (!WITHOUT_END.contains(tag)) {
      for (Object one : content) {
        made.content(one);
      }
      made.markup.append("</").append(tag).append('>');
    }
    return made;
  }

  /** Several, one after the other. */
  static Html all(@Nullable Object... content) {
    Html made = new Html();
    for (Object one : content) {
      made.content(one);
    }
    return made;
  }

  /** A link within these pages. */
  static Html link(Link to, @Nullable Object... content) {
    return el("a", Stream.concat(Stream.of(at("href", to)), Stream.of(content)).toArray());
  }

  /** A text of somebody else, whose direction of writing ends with it. */
  static Html foreign(@Nullable String text) {
    return el("bdi", text);
  }

  private void attribute(Attribute attribute) {
    Object value = attribute.value;
    if (value == null || value.equals(false)) {
      return;
    }
    markup.append(' ').append(attribute.name);
    if (!value.equals(true)) {
      markup.append("=\"");
      escape(value.toString());
      markup.append('"');
    }
  }

  private void content(@Nullable Object content) {
    if (content instanceof Html html) {
      markup.append(html.markup);
    } else if (content instanceof Iterable<?> several) {
      several.forEach(this::content);
    } else if (content != null && !(content instanceof Attribute)) {
      escape(printable(content.toString()));
    }
  }

  /** Leaves the ends of lines, and nothing else that moves or turns what is beside it. */
  private static String printable(String text) {
    return Stream.of(text.split("\n", -1)).map(Texts::printable).collect(Collectors.joining("\n"));
  }

  private void escape(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '&' -> markup.append("&amp;");
        case '<' -> markup.append("&lt;");
        case '>' -> markup.append("&gt;");
        case '"' -> markup.append("&quot;");
        case '\'' -> markup.append("&#39;");
        default -> markup.append(c);
      }
    }
  }

  @Override
  public String toString() {
    return markup.toString();
  }
}
