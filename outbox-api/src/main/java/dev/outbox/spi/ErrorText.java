package dev.outbox.spi;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.Collection;
import java.util.Locale;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Makes any text storable, so that no error can make settle fail (S5), and texts and times
 * printable; and finds what a mistyped name may mean.
 */
public final class ErrorText {

  /** The most code points that {@link #clean} leaves. */
  public static final int MAX = 2_000;

  private static final BigDecimal MILLISECOND = BigDecimal.valueOf(1, 3);

  private ErrorText() {}

  /** Cuts to {@link #MAX} code points; replaces NUL and halves of surrogate pairs. */
  public static String clean(@Nullable String text) {
    if (text == null || text.isEmpty()) {
      return "(no text)";
    }
    StringBuilder out = new StringBuilder();
    text.codePoints()
        .limit(MAX)
        .map(
            c ->
                c == 0 || (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE)
                    ? 0xFFFD
                    : c)
        .forEach(out::appendCodePoint);
    return out.toString();
  }

  /**
   * For a line of a log or of a terminal: what would begin another line, move the cursor or turn
   * the direction of writing comes as <code>&#92;u001b</code>. Whoever appends a message chooses
   * its key, and brokers choose their errors.
   */
  public static String printable(String text) {
    return text.codePoints().noneMatch(ErrorText::isControl)
        ? text
        : text.codePoints()
            .mapToObj(c -> isControl(c) ? "\\u%04x".formatted(c) : Character.toString(c))
            .collect(Collectors.joining());
  }

  /** Of the names the one that is closest to a mistyped one, whatever the case; none: "". */
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
   * {@code 5m}, {@code 7d}. From a millisecond on to the millisecond, cut off.
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

  private static boolean isControl(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> true;
      default ->
          switch (Character.getDirectionality(c)) {
            case Character.DIRECTIONALITY_LEFT_TO_RIGHT_EMBEDDING,
                Character.DIRECTIONALITY_LEFT_TO_RIGHT_OVERRIDE,
                Character.DIRECTIONALITY_RIGHT_TO_LEFT_EMBEDDING,
                Character.DIRECTIONALITY_RIGHT_TO_LEFT_OVERRIDE,
                Character.DIRECTIONALITY_POP_DIRECTIONAL_FORMAT,
                Character.DIRECTIONALITY_LEFT_TO_RIGHT_ISOLATE,
                Character.DIRECTIONALITY_RIGHT_TO_LEFT_ISOLATE,
                Character.DIRECTIONALITY_FIRST_STRONG_ISOLATE,
                Character.DIRECTIONALITY_POP_DIRECTIONAL_ISOLATE ->
                true;
            default -> false;
          };
    };
  }
}
