package dev.outbox.cli;

import dev.outbox.publisher.core.AsciiJson;
import java.lang.reflect.RecordComponent;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** JSON from maps, records, collections, numbers, truth values and texts. */
final class Json {
  private Json() {}

  static String of(@Nullable Object value) {
    if (value instanceof Map<?, ?> map) {
      return map.entrySet().stream()
          .map(
              entry -> AsciiJson.text(String.valueOf(entry.getKey())) + ": " + of(entry.getValue()))
          .collect(Collectors.joining(", ", "{", "}"));
    }
    if (value instanceof Record one) {
      return of(fields(one));
    }
    if (value instanceof Collection<?> all) {
      return all.stream().map(Json::of).collect(Collectors.joining(", ", "[", "]"));
    }
    return value == null || value instanceof Number || value instanceof Boolean
        ? String.valueOf(value)
        : AsciiJson.text(value.toString());
  }

  /** The components of a record by their names, which are those of the API. */
  static Map<String, @Nullable Object> fields(Record one) {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    for (RecordComponent component : one.getClass().getRecordComponents()) {
      try {
        fields.put(component.getName(), component.getAccessor().invoke(one));
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }
    return fields;
  }
}
