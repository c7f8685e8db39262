package dev.outbox.publisher.core;

import static java.util.stream.Collectors.joining;

import dev.outbox.Header;
import java.util.List;

/** JSON in printable ASCII alone, for brokers whose headers can hold no more. */
public final class AsciiJson {
  private AsciiJson() {}

  /** As {@link Header#toJson}, and read as that is. */
  public static String headers(List<Header> headers) {
    return headers.stream()
        .map(header -> "[" + text(header.name()) + "," + text(header.value()) + "]")
        .collect(joining(",", "[", "]"));
  }

  /** A text in quotes. */
  public static String text(String text) {
    StringBuilder out = new StringBuilder(text.length() + 2).append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ' || c >= 0x7F) {
        out.append("\\u%04x".formatted((int) c));
      } else {
        out.append(c);
      }
    }
    return out.append('"').toString();
  }
}
