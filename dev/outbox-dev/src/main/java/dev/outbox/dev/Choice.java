package dev.outbox.dev;

import java.util.Arrays;
import picocli.CommandLine.TypeConversionException;

/** One of several that an option names. */
final class Choice {
  private Choice() {}

  /**
   * The one whose {@code toString} is the name.
   *
   * @throws TypeConversionException naming all of them
   */
  static <T> T named(String name, T[] all) {
    return Arrays.stream(all)
        .filter(one -> one.toString().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new TypeConversionException(
                    "'%s' is not one of %s".formatted(name, Arrays.toString(all))));
  }
}
