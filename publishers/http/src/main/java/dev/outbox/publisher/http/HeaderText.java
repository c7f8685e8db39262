package dev.outbox.publisher.http;

import dev.outbox.publisher.core.PercentEncoding;

/** Text in the header fields of HTTP, and in URLs. */
final class HeaderText {
  private static final String TOKEN = "!#$%&'*+-.^_`|~";

  private HeaderText() {}

  /** For a part of a URL: everything but letters, digits and {@code - . _ ~}. */
  static String encodeForUrl(String text) {
    return PercentEncoding.encode(
        text, c -> PercentEncoding.isLetterOrDigit(c) || "-._~".indexOf(c) >= 0);
  }

  /** Whether it arrives as it is: visible ASCII, with spaces only inside. */
  static boolean isPlain(String value) {
    return value.chars().allMatch(c -> c >= ' ' && c < 0x7F) && value.strip().equals(value);
  }

  /** Whether it can be a field's name. */
  static boolean isName(String name) {
    return !name.isEmpty()
        && name.chars().allMatch(c -> PercentEncoding.isLetterOrDigit(c) || TOKEN.indexOf(c) >= 0);
  }
}
