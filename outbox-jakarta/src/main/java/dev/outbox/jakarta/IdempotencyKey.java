package dev.outbox.jakarta;

import dev.outbox.InvalidMessageException;
import dev.outbox.Texts;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Collections;
import java.util.List;

/** The key of a request. */
final class IdempotencyKey {
  private IdempotencyKey() {}

  /**
   * The draft wants a string in quotes (RFC 9651). Most clients send it without, which is the same
   * key.
   *
   * @throws InvalidMessageException when there is none, there are several, or it cannot be stored
   */
  static String of(HttpServletRequest request) {
    List<String> keys = Collections.list(request.getHeaders(IdempotencyFilter.HEADER));
    if (keys.size() != 1) {
      throw new InvalidMessageException(
          keys.isEmpty()
              ? "This request needs a header Idempotency-Key: a text of your choice that no other request has, as a UUID, and that this one keeps when it is sent again."
              : "There are %d headers Idempotency-Key: send one.".formatted(keys.size()));
    }
    String key = keys.get(0).strip();
    boolean quoted = key.length() >= 2 && key.startsWith("\"") && key.endsWith("\"");
    return Texts.name(
        IdempotencyFilter.HEADER,
        quoted ? key.substring(1, key.length() - 1).replaceAll("\\\\([\"\\\\])", "$1") : key);
  }
}
