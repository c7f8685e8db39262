package dev.outbox.cli;

import java.util.Collection;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** JSON from maps, collections, numbers and texts. */
public final class Json {
  private Json() {}

  public static String of(@Nullable Object value) {
    if (value instanceof Map<?, ?> map) {
      return map.entrySet().stream()
          .map(entry -> text(String.valueOf(entry.getKey())) + ": " + of(entry.getValue()))
          .collect(Collectors.joining(", ", "{", "}"));
    }
    if (value instanceof Collection<?> all) {
      return all.stream().map(Json::of).collect(Collectors.joining(", ", "[", "]"));
    }
    if (value instanceof Double number && !Double.isFinite(number)) {
      return "null";
    }
    return value == null || value instanceof Number
        ? String.valueOf(value)
        : text(value.toString());
  }

  private static String text(String text) {
    StringBuilder json = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (c < ' ' || c >= 0x7f) {
        json.append("\\u%04x".formatted((int) c));
      } else {
        json.append(c);
      }
    }
    return json.append('"').toString();
  }
}
