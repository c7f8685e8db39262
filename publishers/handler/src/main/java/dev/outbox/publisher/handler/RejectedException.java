package dev.outbox.publisher.handler;

/** Thrown by a handler: no try will help, and the message becomes a dead letter at once. */
public class RejectedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Gives the reason, which the dead letter has. */
  public RejectedException(String reason) {
    super(reason);
  }

  /** Gives the reason, which the dead letter has, and the cause. */
  public RejectedException(String reason, Throwable cause) {
    super(reason, cause);
  }
}
