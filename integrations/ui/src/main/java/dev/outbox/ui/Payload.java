package dev.outbox.ui;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.OutboxMessage;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.HexFormat;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A payload as people read it. */
final class Payload {
  /** The most bytes that are shown in hexadecimal digits. */
  private static final int MOST_HEX = 4_096;

  private static final int BYTES_IN_LINE = 16;
  private static final HexFormat HEX = HexFormat.ofDelimiter(" ");

  /** What indenting may make of a JSON text: many brackets make many spaces. */
  private static final int MOST_GROWTH = 4;

  private static final int ALWAYS_ALLOWED = 1_000;

  private Payload() {}

  /** JSON indented, another text as it is, anything else in hexadecimal digits. */
  static String shown(OutboxMessage message) {
    String text = text(message.payload());
    if (text == null) {
      return hex(message.payload());
    }
    return message.contentType().toLowerCase(Locale.ROOT).contains("json") ? indented(text) : text;
  }

  /** Null: it is no text. */
  private static @Nullable String text(byte[] payload) {
    try {
      String text = UTF_8.newDecoder().decode(ByteBuffer.wrap(payload)).toString();
      boolean isText = text.chars().noneMatch(c -> c < ' ' && "\n\r\t".indexOf(c) < 0);
      return isText ? text.replace("\r\n", "\n").replace("\t", "  ") : null;
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  /**
   * The same tokens, each member in a line of its own. Numbers stay as they are, however long. What
   * is no JSON may come out in any lines, but complete.
   */
  static String indented(String json) {
    StringBuilder out = new StringBuilder();
    int depth = 0;
    for (int i = 0; i < json.length(); i++) {
      char c = json.charAt(i);
      switch (c) {
        case ' ', '\n', '\r', '\t' -> {}
        case '"' -> {
          int end = endOfString(json, i);
          out.append(json, i, end);
          i = end - 1;
        }
        case '{', '[' -> {
          int next = next(json, i);
          if (next < json.length() && "}]".indexOf(json.charAt(next)) >= 0) {
            out.append(c).append(json.charAt(next)); // nothing is in it
            i = next;
          } else {
            line(out.append(c), ++depth);
          }
        }
        case '}', ']' -> {
          depth = Math.max(0, depth - 1);
          line(out, depth).append(c);
        }
        case ',' -> line(out.append(c), depth);
        case ':' -> out.append(": ");
        default -> out.append(c);
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

  /** Where the next character is that is no white space. */
  private static int next(String json, int at) {
    int next = at + 1;
    while (next < json.length() && " \n\r\t".indexOf(json.charAt(next)) >= 0) {
      next++;
    }
    return next;
  }

  private static int endOfString(String json, int start) {
    for (int i = start + 1; i < json.length(); i++) {
      if (json.charAt(i) == '"') {
        return i + 1;
      }
      if (json.charAt(i) == '\\') {
        i++;
      }
    }
    return json.length();
  }

  private static String hex(byte[] payload) {
    StringBuilder out = new StringBuilder();
    int most = Math.min(payload.length, MOST_HEX);
    for (int from = 0; from < most; from += BYTES_IN_LINE) {
      int to = Math.min(from + BYTES_IN_LINE, most);
      out.append("%06x  %s\n".formatted(from, HEX.formatHex(payload, from, to)));
    }
    return out.append(payload.length > most ? "…" : "").toString().stripTrailing();
  }
}
