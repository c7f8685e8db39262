package dev.outbox.cli;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Something that a user can put right: one sentence, printed without a stack trace. */
public class Failure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public Failure(String message) {
    super(message);
  }

  public Failure(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /**
   * Gives what some work gives, and is thrown where that refuses a value.
   *
   * @param before what its sentence begins with, as the name of an option and a colon; may be empty
   */
  static <T> T whereRefused(String before, Supplier<T> work) {
    try {
      return work.get();
    } catch (IllegalArgumentException e) {
      throw new Failure(before + e.getMessage(), e);
    }
  }
}
