package dev.outbox.ui;

import dev.outbox.OutboxMessage;
import dev.outbox.Texts;
import java.util.HexFormat;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A payload as people read it, on the page and in a terminal. */
public final class Payload {
  /** The most bytes that are shown in hexadecimal digits. */
  private static final int MOST_HEX = 4_096;

  private static final int BYTES_IN_LINE = 16;
  private static final HexFormat HEX = HexFormat.ofDelimiter(" ");

  /** What indenting may make of a JSON text: many brackets make many spaces. */
  private static final int MOST_GROWTH = 4;

  private static final int ALWAYS_ALLOWED = 1_000;

  /** A string, brackets with nothing in them, what parts others, or anything else. */
  private static final Pattern TOKEN =
      Pattern.compile(
          "(?s)\"(?:[^\"\\\\]|\\\\.)*+\"?|[{\\[]\\s*[}\\]]|[{}\\[\\],:]|[^\\s\"{}\\[\\],:]+");

  private Payload() {}

  /**
   * JSON indented, another text as it is, anything else in hexadecimal digits. Has no tabs; {@link
   * Texts#printable} escapes other controls.
   */
  public static String shown(OutboxMessage message) {
    boolean isJson = message.contentType().toLowerCase(Locale.ROOT).contains("json");
    return Texts.utf8(message.payload())
        .filter(text -> text.chars().noneMatch(c -> c < ' ' && "\n\r\t".indexOf(c) < 0))
        .map(text -> text.replace("\r\n", "\n").replace("\t", "  "))
        .map(text -> isJson ? indented(text) : text)
        .orElseGet(() -> hex(message.payload()));
  }

  /**
   * The same tokens, each member in a line of its own. Numbers stay as they are, however long. What
   * is no JSON may come out in any lines, but complete.
   */
  static String indented(String json) {
    StringBuilder out = new StringBuilder();
    int depth = 0;
    Matcher tokens = TOKEN.matcher(json);
    while (tokens.find()) {
      String token = tokens.group();
      char first = token.charAt(0);
      switch (first) {
        case '{', '[' -> {
          if (token.length() > 1) {
            out.append(first).append(token.charAt(token.length() - 1)); // nothing is in it
          } else {
            line(out.append(first), ++depth);
          }
        }
        case '}', ']' -> {
          depth = Math.max(0, depth - 1);
          line(out, depth).append(first);
        }
        case ',' -> line(out.append(first), depth);
        case ':' -> out.append(": ");
        default -> out.append(token);
      }
      if (out.length() > ALWAYS_ALLOWED + MOST_GROWTH * json.length()) {
        return json;
      }
    }
    return out.toString();
  }

  private static StringBuilder line(StringBuilder out, int depth) {
    return out.append('\n').append("  ".repeat(depth));
  }

  private static String hex(byte[] payload) {
    StringBuilder out = new StringBuilder();
    int most = Math.min(payload.length, MOST_HEX);
    for (int from = 0; from < most; from += BYTES_IN_LINE) {
      int to = Math.min(from + BYTES_IN_LINE, most);
      out.append("%s  %s\n".formatted(HEX.toHexDigits(from, 6), HEX.formatHex(payload, from, to)));
    }
    return out.append(payload.length > most ? "…" : "").toString().stripTrailing();
  }
}
