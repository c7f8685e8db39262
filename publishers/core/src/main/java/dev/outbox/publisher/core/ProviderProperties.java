package dev.outbox.publisher.core;

import dev.outbox.spi.publisher.PublisherProvider;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Reads the properties of a relay, for a {@link PublisherProvider}. */
public final class ProviderProperties {
  private ProviderProperties() {}

  /** Whether one of the names is meant; one that ends in a dot stands for many. */
  public static boolean isOneOf(Set<String> names, String name) {
    return names.stream().anyMatch(n -> n.endsWith(".") ? name.startsWith(n) : name.equals(n));
  }

  /** The properties that begin so, by the rest of their names; a map of the caller's own. */
  public static Map<String, String> behind(String beginning, Map<String, String> properties) {
    Map<String, String> behind = new TreeMap<>();
    properties.forEach(
        (name, value) -> {
          if (name.startsWith(beginning)) {
            behind.put(name.substring(beginning.length()), value);
          }
        });
    return behind;
  }

  /** Uses a value, without the space around it, unless it is missing or blank. */
  public static void given(Map<String, String> properties, String name, Consumer<String> use) {
    String value = properties.getOrDefault(name, "").strip();
    if (!value.isEmpty()) {
      use.accept(value);
    }
  }

  /** The words of a text, between commas and spaces. */
  public static String[] words(String text) {
    return text.split("[,\\s]+");
  }
}
