package dev.outbox;

import org.jspecify.annotations.Nullable;

/**
 * What every database stores as a text: no NUL, because some end a text there, and no half of a
 * surrogate pair, because that is not Unicode.
 */
public final class Texts {

  /** The most code points of a {@link #name}. */
  public static final int MAX = 255;

  private Texts() {}

  /**
   * A text that is to be found again: one that is {@link #storable}, not blank, and has at most
   * {@link #MAX} code points.
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
          "%s has %d characters, at most %d are allowed: shorten it, or send its hash"
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
  public static void storable(String field, String value) {
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == 0) {
        throw new InvalidMessageException(
            "%s has a NUL at index %d, which databases do not store: remove it"
                .formatted(field, i));
      }
      if (Character.isHighSurrogate(c)
          && i + 1 < value.length()
          && Character.isLowSurrogate(value.charAt(i + 1))) {
        i++;
      } else if (Character.isSurrogate(c)) {
        throw new InvalidMessageException(
            "%s has half a surrogate pair at index %d, which is not Unicode: remove it"
                .formatted(field, i));
      }
    }
  }
}
