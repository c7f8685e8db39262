package dev.outbox.ui;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URLDecoder;
import java.time.DateTimeException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What a browser asks for.
 *
 * @param method {@code GET} or {@code POST}; others are refused
 * @param path below the one where the pages are, without a slash at its beginning
 * @param query as {@link #parameters} gives it
 * @param form of a {@code POST}, as {@link #parameters} gives it; else empty
 * @param headers by their names in small letters, of several of a name the first
 */
public record PageRequest(
    String method,
    String path,
    Map<String, String> query,
    Map<String, String> form,
    Map<String, String> headers) {
  public PageRequest {
    query = Map.copyOf(query);
    form = Map.copyOf(form);
    headers = Map.copyOf(headers);
  }

  /**
   * Decodes a query, or a form that came as {@code application/x-www-form-urlencoded}. Of several
   * of a name the first counts.
   *
   * @param encoded null: none
   * @throws IllegalArgumentException when it cannot be decoded
   */
  public static Map<String, String> parameters(@Nullable String encoded) {
    Map<String, String> decoded = new LinkedHashMap<>();
    for (String one : encoded == null || encoded.isEmpty() ? new String[0] : encoded.split("&")) {
      int equals = one.indexOf('=');
      decoded.putIfAbsent(
          URLDecoder.decode(equals < 0 ? one : one.substring(0, equals), UTF_8),
          equals < 0 ? "" : URLDecoder.decode(one.substring(equals + 1), UTF_8));
    }
    return decoded;
  }

  boolean isPost() {
    return method.equals("POST");
  }

  @Nullable String header(String name) {
    return headers.get(name);
  }

  /** A parameter of the form, or of the query; null: not there, or blank. */
  @Nullable String text(String name) {
    String value = given(name);
    return value == null || value.isBlank() ? null : value;
  }

  /** Whether a parameter is there, blank and not empty. */
  boolean isBlank(String name) {
    String value = given(name);
    return value != null && !value.isEmpty() && value.isBlank();
  }

  private @Nullable String given(String name) {
    return (isPost() ? form : query).get(name);
  }

  /** A parameter that is a number. */
  @Nullable Long number(String name) {
    return parsed(name, Long::valueOf, "a whole number");
  }

  /**
   * A parameter that is more than a text.
   *
   * @param needed what it has to be, as "a whole number"
   */
  <T> @Nullable T parsed(String name, Function<String, T> parse, String needed) {
    String text = text(name);
    try {
      return text == null ? null : parse.apply(text.strip());
    } catch (IllegalArgumentException | DateTimeException | ArithmeticException e) {
      throw new Refusal(400, "%s is '%s', %s is needed".formatted(name, text, needed));
    }
  }
}
