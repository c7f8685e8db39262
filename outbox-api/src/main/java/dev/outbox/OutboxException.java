package dev.outbox;

import org.jspecify.annotations.Nullable;

/** Something is wrong that trying again will not mend; the message says what to do. */
public class OutboxException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public OutboxException(String message) {
    super(message);
  }

  public OutboxException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
