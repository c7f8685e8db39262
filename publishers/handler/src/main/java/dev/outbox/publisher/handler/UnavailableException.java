package dev.outbox.publisher.handler;

/**
 * Thrown by a handler: a service that it needs is away. The message waits and is tried again,
 * however long that takes; no attempt is counted.
 */
public class UnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Gives the reason, for logs. */
  public UnavailableException(String reason) {
    super(reason);
  }

  /** Gives the reason, for logs, and the cause. */
  public UnavailableException(String reason, Throwable cause) {
    super(reason, cause);
  }
}
