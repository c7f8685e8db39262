package dev.outbox;

import org.jspecify.annotations.Nullable;

/**
 * Trying again can help: a deadlock, a lost connection. For an append, run the whole transaction
 * again.
 */
public class TransientOutboxException extends OutboxException {
  private static final long serialVersionUID = 1L;

  public TransientOutboxException(String message) {
    this(message, null);
  }

  public TransientOutboxException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
