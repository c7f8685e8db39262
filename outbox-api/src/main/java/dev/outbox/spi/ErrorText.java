package dev.outbox.spi;

import org.jspecify.annotations.Nullable;

/** Makes any error text storable, so that none can make settle fail (S5). */
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
}
