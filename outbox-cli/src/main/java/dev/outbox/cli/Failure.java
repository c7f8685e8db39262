package dev.outbox.cli;

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
}
