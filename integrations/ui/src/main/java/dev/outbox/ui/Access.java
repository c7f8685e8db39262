package dev.outbox.ui;

import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Who may ask: who has the token. It comes once in the address, and then as a cookie that scripts
 * and other sites do not get.
 *
 * @param cookie its name; cookies are sent to all ports of a host
 * @param host what was told to listen at
 * @param isLocal whether only this machine is listened to: no name of others may lead here then, or
 *     their pages could ask in a browser on this machine
 */
record Access(String token, String cookie, String host, boolean isLocal) {
  private static final Set<String> LOCAL = Set.of("localhost", "127.0.0.1", "[::1]");

  /** The answer to who may not ask, or who has come with the token; null: go on. */
  @Nullable PageResponse instead(
      String method, Map<String, String> query, Map<String, String> headers) {
    String asked = headers.getOrDefault("host", "").replaceFirst(":\\d*$", "");
    if (isLocal && !LOCAL.contains(asked) && !asked.equalsIgnoreCase(host)) {
      return PageResponse.text(
          403,
          "This page listens to this machine alone, as 127.0.0.1 or localhost: a proxy must not"
              + " pass another Host on.");
    }
    String given = query.get("token");
    if (method.equals("GET") && given != null && FormTokens.areEqual(given, token)) {
      return PageResponse.seeOther(Link.HOME)
          .with("Set-Cookie", cookie + "=" + token + "; HttpOnly; SameSite=Lax");
    }
    return hasCookie(headers.getOrDefault("cookie", ""))
        ? null
        : PageResponse.text(
            403, "Open the address that the program has printed: it ends in a token.");
  }

  private boolean hasCookie(String cookies) {
    return Stream.of(cookies.split(";"))
        .map(String::strip)
        .filter(one -> one.startsWith(cookie + "="))
        .anyMatch(one -> FormTokens.areEqual(one.substring(cookie.length() + 1), token));
  }
}
