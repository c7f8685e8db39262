package dev.outbox.store.jdbc.internal;

import dev.outbox.Texts;
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
    return value instanceof String text ? Texts.json(text) : String.valueOf(value);
  }
}
