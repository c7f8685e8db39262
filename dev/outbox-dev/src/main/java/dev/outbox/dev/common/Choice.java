package dev.outbox.dev.common;

import java.util.Arrays;
import picocli.CommandLine.TypeConversionException;

/** One of several that an option names. */
public final class Choice {
  private Choice() {}

  /**
   * The one whose {@code toString} is the name.
   *
   * @throws TypeConversionException naming all of them
   */
  public static <T> T named(String name, T[] all) {
    return Arrays.stream(all)
        .filter(one -> one.toString().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new TypeConversionException(
                    "'%s' is not one of %s".formatted(name, Arrays.toString(all))));
  }
}
