package dev.outbox.ui;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URLEncoder;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An address within these pages, relative: they may be below any path.
 *
 * @param path without a slash; empty: the first page
 */
record Link(String path, Map<String, String> parameters) {

  static final Link HOME = to("");

  static Link to(String path) {
    return new Link(path, Map.of());
  }

  static Link message(long sequence) {
    return to("message").with("sequence", sequence);
  }

  /** With one more parameter, or another value; null: without it. */
  Link with(String name, @Nullable Object value) {
    Map<String, String> more = new LinkedHashMap<>(parameters);
    more.remove(name);
    if (value != null) {
      more.put(name, value.toString());
    }
    return new Link(path, more);
  }

  @Override
  public String toString() {
    String query =
        parameters.entrySet().stream()
            .map(one -> one.getKey() + "=" + URLEncoder.encode(one.getValue(), UTF_8))
            .collect(Collectors.joining("&"));
    return (path.isEmpty() ? "./" : path) + (query.isEmpty() ? "" : "?" + query);
  }
}
