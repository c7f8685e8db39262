package dev.outbox.publisher.http;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a message is sent.
 *
 * @param origin scheme, host and port: what a connection leads to
 * @param name for people and for the relay; without the query, in which a token may stand
 */
record Endpoint(URI uri, String origin, String name) {
  private static final Pattern USER_INFO = Pattern.compile("//[^/?#]*@");
  private static final Pattern PLACEHOLDER = Pattern.compile("\\{[^{}]*}");
  private static final Pattern HOST = Pattern.compile("(?i)https?://[^/?#{}]+(?=[/?])");
  private static final List<String> DOTS = List.of(".", "..");

  /**
   * Reads a URL.
   *
   * @throws IllegalArgumentException saying what is wrong with it, without secrets
   */
  static Endpoint of(String url) {
    try {
      return of(new URI(url), url);
    } catch (URISyntaxException e) {
      throw wrong(url, "is not a URL: %s at index %s".formatted(e.getReason(), e.getIndex()));
    }
  }

  /**
   * Checks a pattern, and gives what can be asked for a sign of life: the URL, if it has no
   * placeholders; else its host, if that has none, by the pattern's name.
   *
   * @throws IllegalArgumentException as {@link #of(String)}
   */
  static Optional<Endpoint> ofPattern(String pattern) {
    Endpoint any = of(PLACEHOLDER.matcher(pattern).replaceAll("x"));
    Matcher host = HOST.matcher(pattern);
    if (!pattern.contains("{")) {
      return Optional.of(any);
    }
    if (!host.lookingAt()) {
      return Optional.empty();
    }
    Endpoint asked = of(host.group());
    return Optional.of(new Endpoint(asked.uri, asked.origin, masked(pattern)));
  }

  private static Endpoint of(URI uri, String url) {
    String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
    if (!scheme.equals("http") && !scheme.equals("https")) {
      throw wrong(url, "does not begin with http:// or https://");
    }
    if (uri.getRawUserInfo() != null || USER_INFO.matcher(url).find()) {
      throw wrong(url, "has a user or password in it: give them as a header, Authorization");
    }
    if (uri.getHost() == null || uri.getPort() > 65_535) {
      throw wrong(url, "has no valid host and port");
    }
    if (uri.getRawFragment() != null) {
      throw wrong(url, "has a fragment, which is never sent: leave out the # and what follows");
    }
    // Servers go up a folder there: a value that was filled in would choose another endpoint.
    if (List.of(uri.getRawPath().split("/")).stream().anyMatch(DOTS::contains)) {
      throw wrong(url, "has . or .. as a part of its path");
    }
    int port = uri.getPort() >= 0 ? uri.getPort() : scheme.equals("https") ? 443 : 80;
    String origin = scheme + "://" + uri.getHost().toLowerCase(Locale.ROOT) + ":" + port;
    return new Endpoint(uri, origin, masked(url));
  }

  /** What can be in trouble: the origin with all of its endpoints, and this one alone. */
  List<String> places() {
    return List.of(origin, place());
  }

  /** This endpoint, with its query. */
  String place() {
    return uri.toString();
  }

  boolean isEncrypted() {
    return origin.startsWith("https:");
  }

  /** A password that is not encoded may have a slash in it: all up to the last @ is hidden. */
  private static IllegalArgumentException wrong(String url, String why) {
    String shown = masked(url.replaceFirst("//.*@", "//…@"));
    return new IllegalArgumentException("the URL %s %s".formatted(shown, why));
  }

  /** Without user, password, query and fragment. */
  static String masked(String url) {
    return USER_INFO.matcher(url).replaceFirst("//…@").replaceFirst("[?#].*", "");
  }
}
