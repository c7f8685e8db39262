package dev.outbox.cli;

import dev.outbox.spi.store.StoreProvider.PasswordMissingException;
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

  /** A database wants a password, and was given none. */
  static final class NoPassword extends Failure {
    static final String VARIABLE = "OUTBOX_PASSWORD";

    private static final long serialVersionUID = 1L;

    NoPassword(PasswordMissingException e) {
      super(
          "%s; give the password in the variable %s or with --password"
              .formatted(e.getMessage(), VARIABLE),
          e);
    }
  }
}
