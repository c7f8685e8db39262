package dev.outbox;

import org.jspecify.annotations.Nullable;

/**
 * An append, or a record of an inbox, without an active transaction (A2, I1); nothing was written.
 */
public class NoTransactionException extends PermanentOutboxException {
  private static final long serialVersionUID = 1L;

  public NoTransactionException(String message) {
    super(message);
  }

  public NoTransactionException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
