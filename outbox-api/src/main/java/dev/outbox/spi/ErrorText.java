package dev.outbox.spi;

import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Makes any text storable, so that no error can make settle fail (S5), and any printable. */
public final class ErrorText {

  /** The most code points that {@link #clean} leaves. */
  public static final int MAX = 2_000;

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
