package dev.outbox.benchmarks;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Writes maps, lists, numbers and texts. */
final class Json {
  private Json() {}

  static String text(Object value) {
    return text(value, "\n");
  }

  private static String text(Object value, String newLine) {
    String inner = newLine + "  ";
    if (value instanceof Map<?, ?> map) {
      return map.entrySet().stream()
          .map(e -> inner + quoted("" + e.getKey()) + ": " + text(e.getValue(), inner))
          .collect(Collectors.joining(",", "{", newLine + "}"));
    }
    if (value instanceof List<?> list) {
      return list.stream()
          .map(element -> inner + text(element, inner))
          .collect(Collectors.joining(",", "[", newLine + "]"));
    }
    if (value instanceof Double number && !Double.isFinite(number)) {
      return "null";
    }
    return value instanceof Number ? value.toString() : quoted("" + value);
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < ' ') {
        quoted.append("\\u%04x".formatted((int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }
}
