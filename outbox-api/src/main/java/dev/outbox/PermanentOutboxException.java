package dev.outbox;

import org.jspecify.annotations.Nullable;

/** Something is wrong that trying again will not mend; the message says what to do. */
public class PermanentOutboxException extends OutboxException {
  private static final long serialVersionUID = 1L;

  public PermanentOutboxException(String message) {
    this(message, null);
  }

  public PermanentOutboxException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
