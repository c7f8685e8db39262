package dev.outbox.publisher.core;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.HexFormat;
import java.util.function.IntPredicate;

/** Any text in a few characters of ASCII, for brokers whose names and headers hold no more. */
public final class PercentEncoding {
  private static final HexFormat HEX = HexFormat.of().withUpperCase();

  private PercentEncoding() {}

  /**
   * Writes a text's bytes in UTF-8: as they are, or as {@code %0A}.
   *
   * @param kept the characters of visible ASCII that stay; {@code %} never does, whatever it says
   */
  public static String encode(String text, IntPredicate kept) {
    if (text.chars().allMatch(c -> stays(c, kept))) {
      return text;
    }
    StringBuilder out = new StringBuilder(text.length());
    for (byte b : text.getBytes(UTF_8)) {
      if (stays(b, kept)) {
        out.append((char) b);
      } else {
        out.append('%').append(HEX.toHexDigits(b));
      }
    }
    return out.toString();
  }

  /**
   * As CloudEvents write attributes into header fields: everything but visible ASCII, and also
   * {@code "} and {@code %}, as the bytes of UTF-8, {@code %20} for a space. So no text can end a
   * line or begin another field.
   */
  public static String encodeHeader(String text) {
    return encode(text, c -> c != '"');
  }

  private static boolean stays(int c, IntPredicate kept) {
    return c > ' ' && c < 0x7F && c != '%' && kept.test(c);
  }

  /** Whether it is a letter or a digit of ASCII. */
  public static boolean isLetterOrDigit(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  }
}
