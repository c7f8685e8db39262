package dev.outbox.cli;

import dev.outbox.Texts;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/** A payload for a terminal. */
final class Bytes {
  /** So many are shown of what is no text. */
  private static final int FIRST = 64;

  private Bytes() {}

  /** The lines of a text; of other bytes their number, and the first of them in hexadecimal. */
  static List<String> lines(byte[] payload) {
    return Texts.utf8(payload)
        .filter(Bytes::isText)
        .map(text -> text.isEmpty() ? List.of("") : text.lines().toList())
        .orElseGet(() -> hex(payload));
  }

  private static boolean isText(String text) {
    return text.codePoints().allMatch(c -> Character.isWhitespace(c) || !Character.isISOControl(c));
  }

  private static List<String> hex(byte[] payload) {
    byte[] first = Arrays.copyOf(payload, Math.min(FIRST, payload.length));
    return List.of(
        "%d bytes, no text: %s%s"
            .formatted(
                payload.length,
                HexFormat.ofDelimiter(" ").formatHex(first),
                payload.length > FIRST ? " …" : ""));
  }
}
