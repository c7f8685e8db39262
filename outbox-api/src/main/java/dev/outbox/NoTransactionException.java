package dev.outbox;

import org.jspecify.annotations.Nullable;

/** Nothing was appended, or recorded in an inbox, because no transaction is active (A2, I1). */
public class NoTransactionException extends PermanentOutboxException {
  private static final long serialVersionUID = 1L;

  public NoTransactionException(String message) {
    super(message);
  }

  public NoTransactionException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
