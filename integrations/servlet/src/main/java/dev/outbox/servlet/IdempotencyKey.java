package dev.outbox.servlet;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.InvalidMessageException;
import dev.outbox.Texts;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.InboxKey;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The key of a request. */
final class IdempotencyKey {
  static final String HEADER = "Idempotency-Key";

  private IdempotencyKey() {}

  /**
   * The key in the inbox: the user and the text, or a hash of both when they are too long.
   *
   * @param user null or empty: nobody
   * @throws InvalidMessageException when there is none, there are several, or it cannot be stored
   */
  static InboxKey of(HttpServletRequest request, String name, @Nullable String user) {
    String text = text(request);
    // The first slash ends the user, and no hash has one: so no two are one.
    String whose = user == null ? "" : user.replace("%", "%25").replace("/", "%2F");
    String key = whose + "/" + text;
    return key.codePointCount(0, key.length()) <= Texts.MAX
        ? new InboxKey(name, key)
        : new InboxKey(name, Fingerprint.of(key.getBytes(UTF_8)).toString());
  }

  /**
   * The draft wants a string in quotes (RFC 9651). Most clients send it without, which is the same
   * key.
   */
  private static String text(HttpServletRequest request) {
    List<String> keys = Collections.list(request.getHeaders(HEADER));
    if (keys.size() != 1) {
      throw new InvalidMessageException(
          keys.isEmpty()
              ? "This request needs a header Idempotency-Key: a text of your choice that no other request has, as a UUID, and that this one keeps when it is sent again."
              : "There are %s headers Idempotency-Key: send one.".formatted(keys.size()));
    }
    String key = keys.get(0).strip();
    boolean quoted = key.length() >= 2 && key.startsWith("\"") && key.endsWith("\"");
    return Texts.name(
        HEADER,
        quoted ? key.substring(1, key.length() - 1).replaceAll("\\\\([\"\\\\])", "$1") : key);
  }
}
