package dev.outbox.publisher.http;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Text in the header fields of HTTP. */
final class HeaderText {
  private static final String TOKEN = "!#$%&'*+-.^_`|~";

  private HeaderText() {}

  /**
   * As CloudEvents write attributes into header fields: everything but visible ASCII, and also
   * {@code "} and {@code %}, as the bytes of UTF-8, {@code %20} for a space. So no text can end a
   * line or begin another field.
   */
  static String encode(String text) {
    StringBuilder out = new StringBuilder(text.length());
    for (byte b : text.getBytes(UTF_8)) {
      if (b > ' ' && b < 0x7F && b != '"' && b != '%') {
        out.append((char) b);
      } else {
        percent(out, b);
      }
    }
    return out.toString();
  }

  /** For a part of a URL: everything but letters, digits and {@code - . _ ~}. */
  static String encodeForUrl(String text) {
    StringBuilder out = new StringBuilder(text.length());
    for (byte b : text.getBytes(UTF_8)) {
      if (isLetterOrDigit(b) || "-._~".indexOf(b) >= 0) {
        out.append((char) b);
      } else {
        percent(out, b);
      }
    }
    return out.toString();
  }

  /** Whether it arrives as it is: visible ASCII, with spaces only inside. */
  static boolean isPlain(String value) {
    return value.chars().allMatch(c -> c >= ' ' && c < 0x7F) && value.strip().equals(value);
  }

  /** Whether it can be a field's name. */
  static boolean isName(String name) {
    return !name.isEmpty()
        && name.chars().allMatch(c -> isLetterOrDigit(c) || TOKEN.indexOf(c) >= 0);
  }

  private static boolean isLetterOrDigit(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  }

  private static void percent(StringBuilder out, byte b) {
    out.append('%')
        .append(Character.toUpperCase(Character.forDigit((b >> 4) & 0xF, 16)))
        .append(Character.toUpperCase(Character.forDigit(b & 0xF, 16)));
  }
}
