package dev.outbox.ui;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The answer to a request.
 *
 * @param headers each once; {@code Content-Type} says UTF-8
 */
public record PageResponse(int status, Map<String, String> headers, String body) {

  /** Nothing but our own files may run or be shown, and no other page may frame ours. */
  private static final Map<String, String> ALWAYS =
      Map.of(
          "Content-Security-Policy",
          "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self';"
              + " img-src 'self' data:; form-action 'self'; base-uri 'none';"
              + " frame-ancestors 'none'",
          "X-Content-Type-Options",
          "nosniff",
          "X-Frame-Options",
          "DENY",
          // With no-referrer a browser says no Origin of a form.
          "Referrer-Policy",
          "same-origin",
          "Cache-Control",
          "no-store");

  public PageResponse {
    headers = Map.copyOf(headers);
  }

  /** Nobody keeps it, and it is text of this type in UTF-8. */
  public static PageResponse of(int status, String type, String body) {
    return new PageResponse(status, ALWAYS, body).with("Content-Type", type + "; charset=utf-8");
  }

  /** A sentence, as a line of plain text. */
  public static PageResponse text(int status, String sentence) {
    return of(status, "text/plain", sentence + "\n");
  }

  static PageResponse seeOther(Link to) {
    return text(303, "").with("Location", to.toString());
  }

  PageResponse with(String header, String value) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.put(header, value);
    return new PageResponse(status, more, body);
  }
}
