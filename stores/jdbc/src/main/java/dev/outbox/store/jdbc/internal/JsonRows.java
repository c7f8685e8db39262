package dev.outbox.store.jdbc.internal;

import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A table as one parameter, {@code [[3,"a"],[4,"b"]]}, for databases that have no arrays. */
public final class JsonRows {
  private JsonRows() {}

  /**
   * @param columns gives a row's values: numbers, truth values and texts
   */
  public static <R> String of(Collection<R> rows, Function<R, List<?>> columns) {
    return rows.stream()
        .map(columns)
        .map(row -> row.stream().map(JsonRows::value).collect(Collectors.joining(",", "[", "]")))
        .collect(Collectors.joining(",", "[", "]"));
  }

  private static String value(Object value) {
    return value instanceof String text ? quoted(text) : String.valueOf(value);
  }

  private static String quoted(String text) {
    StringBuilder json = new StringBuilder(text.length() + 2).append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (c < ' ') {
        json.append("\\u00")
            .append(Character.forDigit(c >> 4, 16))
            .append(Character.forDigit(c & 15, 16));
      } else {
        json.append(c);
      }
    }
    return json.append('"').toString();
  }
}
