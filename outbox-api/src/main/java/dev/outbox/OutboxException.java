package dev.outbox;

import org.jspecify.annotations.Nullable;

/**
 * The outbox could not do what it was asked for: {@linkplain TransientOutboxException trying again
 * can help}, or {@linkplain PermanentOutboxException it will not}.
 */
public abstract class OutboxException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  OutboxException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
