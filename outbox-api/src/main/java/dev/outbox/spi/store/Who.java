package dev.outbox.spi.store;

import static java.util.Objects.requireNonNull;

import dev.outbox.Texts;
import org.jspecify.annotations.Nullable;

/**
 * Who decides about messages by hand, for the audit.
 *
 * @param name not blank, at most {@value #MAX_NAME} code points; what no database stores is
 *     replaced
 * @param reason why, in that person's words, cleaned as {@link Texts#clean} does; null: not said
 */
public record Who(String name, @Nullable String reason) {

  /** The most code points of a name. */
  public static final int MAX_NAME = 255;

  /**
   * @throws IllegalArgumentException when the name is blank or too long
   */
  public Who {
    int length = requireNonNull(name, "name").codePointCount(0, name.length());
    if (name.isBlank() || length > MAX_NAME) {
      throw new IllegalArgumentException(
          "the name of who decides has %d characters, 1 to %d are needed, and not only spaces"
              .formatted(length, MAX_NAME));
    }
    name = Texts.clean(name);
    reason = reason == null ? null : Texts.clean(reason);
  }

  /** Somebody who says no reason. */
  public static Who named(String name) {
    return new Who(name, null);
  }
}
