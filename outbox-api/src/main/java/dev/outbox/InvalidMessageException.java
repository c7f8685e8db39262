package dev.outbox;

import org.jspecify.annotations.Nullable;

/**
 * A message, or what an inbox is given about one, breaks a limit (A5): the text says the field, its
 * size, the limit and what to do. Or it expires, and the store lets no message expire (C10).
 */
public class InvalidMessageException extends PermanentOutboxException {
  private static final long serialVersionUID = 1L;

  public InvalidMessageException(String message) {
    super(message);
  }

  public InvalidMessageException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
