package dev.outbox;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.time.Duration;
import java.util.Collection;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Texts that every database stores and every log shows. Not every database stores a NUL, and none
 * stores half a surrogate pair, which is not Unicode. A name with one of these is refused; an error
 * is {@link #clean}ed.
 */
public final class Texts {

  /** The most code points of a {@link #name}. */
  public static final int MAX = 255;

  /** The most code points that {@link #clean} leaves. */
  public static final int MAX_ERROR = 2_000;

  private static final Pattern CONTROL =
      Pattern.compile("[\\p{Cc}\\p{Zl}\\p{Zp}\\x{202a}-\\x{202e}\\x{2066}-\\x{2069}]");

  private static final HexFormat HEX = HexFormat.of();
  private static final BigDecimal MILLISECOND = BigDecimal.valueOf(1, 3);

  private Texts() {}

  /**
   * Checks a text by which something is found again: it is {@link #storable}, not blank, and has at
   * most {@link #MAX} code points.
   *
   * @param field for the error
   * @return the text
   * @throws InvalidMessageException naming the field, its size, the limit and what to do
   */
  public static String name(String field, @Nullable String value) {
    if (value == null || value.isBlank()) {
      throw new InvalidMessageException(
          "%s is %s: give it at least one visible character"
              .formatted(field, value == null ? "missing" : "blank"));
    }
    storable(field, value);
    // Characters are code points, of which there are never more than chars.
    if (value.length() > MAX && value.codePointCount(0, value.length()) > MAX) {
      throw new InvalidMessageException(
          "%s has %s characters, at most %s are allowed: shorten it, or send its hash"
              .formatted(field, value.codePointCount(0, value.length()), MAX));
    }
    return value;
  }

  /**
   * Refuses what databases do not store.
   *
   * @param field for the error
   * @throws InvalidMessageException naming the field, the place and what to do
   */
  static void storable(String field, String value) {
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == 0) {
        throw new InvalidMessageException(
            "%s has a NUL at index %s, which databases do not store: remove it"
                .formatted(field, i));
      }
      if (Character.isHighSurrogate(c)
          && i + 1 < value.length()
          && Character.isLowSurrogate(value.charAt(i + 1))) {
        i++;
      } else if (Character.isSurrogate(c)) {
        throw new InvalidMessageException(
            "%s has half a surrogate pair at index %s, which is not Unicode: remove it"
                .formatted(field, i));
      }
    }
  }

  /** Cuts to {@link #MAX_ERROR} code points; replaces NUL and halves of surrogate pairs. */
  public static String clean(@Nullable String text) {
    if (text == null || text.isEmpty()) {
      return "(no text)";
    }
    StringBuilder out = new StringBuilder();
    text.codePoints()
        .limit(MAX_ERROR)
        .map(
            c ->
                c == 0 || (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE)
                    ? 0xFFFD
                    : c)
        .forEach(out::appendCodePoint);
    return out.toString();
  }

  /** These bytes read as UTF-8; empty when they are not UTF-8. */
  public static Optional<String> utf8(byte[] bytes) {
    try {
      return Optional.of(UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    } catch (CharacterCodingException e) {
      return Optional.empty();
    }
  }

  /**
   * The text for a line of a log or of a terminal: what would begin another line, move the cursor
   * or turn the direction of writing becomes an escape, as <code>&#92;u001b</code>. Whoever appends
   * a message chooses its key, and brokers choose their errors.
   */
  public static String printable(String text) {
    return CONTROL
        .matcher(text)
        .replaceAll(control -> "\\\\u" + HEX.toHexDigits(control.group().charAt(0)));
  }

  /**
   * The text as JSON has it, in quotes. Escaped are quotes, backslashes and what is below U+0020.
   */
  public static String json(String text) {
    return json(text, Character.MAX_VALUE + 1);
  }

  /**
   * As {@link #json(String)}.
   *
   * @param from this character and all above it are escaped too
   */
  public static String json(String text, int from) {
    StringBuilder json = new StringBuilder(text.length() + 2).append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (c < ' ' || c >= from) {
        json.append("\\u").append(HEX.toHexDigits(c));
      } else {
        json.append(c);
      }
    }
    return json.append('"').toString();
  }

  /**
   * The name that is closest to a mistyped one, whatever the case; empty when there are no names.
   */
  public static String closest(String name, Collection<String> names) {
    String best = "";
    int least = Integer.MAX_VALUE;
    for (String known : new TreeSet<>(names)) {
      int distance = distance(name.toLowerCase(Locale.ROOT), known.toLowerCase(Locale.ROOT));
      if (distance < least) {
        least = distance;
        best = known;
      }
    }
    return best;
  }

  /** Levenshtein's. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }

  /**
   * A length of time as people write it in settings: {@code 92ms}, {@code 1.5s}, {@code 30s},
   * {@code 5m}, {@code 7d}. Cut to the millisecond, unless it is shorter than one.
   */
  public static String time(Duration time) {
    BigDecimal exact =
        BigDecimal.valueOf(time.getSeconds()).add(BigDecimal.valueOf(time.getNano(), 9));
    boolean isTiny = exact.abs().compareTo(MILLISECOND) < 0;
    BigDecimal shown = (isTiny ? exact : exact.setScale(3, RoundingMode.DOWN)).stripTrailingZeros();
    if (shown.scale() > 0) {
      return shown.abs().compareTo(BigDecimal.ONE) < 0
          ? shown.movePointRight(3).toPlainString() + "ms"
          : shown.toPlainString() + "s";
    }
    long seconds = shown.longValueExact();
    if (seconds == 0 || seconds % 60 != 0) {
      return seconds + "s";
    }
    if (seconds % 3_600 != 0) {
      return seconds / 60 + "m";
    }
    return seconds % 86_400 != 0 ? seconds / 3_600 + "h" : seconds / 86_400 + "d";
  }
}
