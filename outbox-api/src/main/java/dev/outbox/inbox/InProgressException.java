package dev.outbox.inbox;

import dev.outbox.Texts;
import dev.outbox.TransientOutboxException;
import java.time.Duration;

/** Somebody else is handling the message (I5): roll back, and run the transaction again later. */
public final class InProgressException extends TransientOutboxException {
  private static final long serialVersionUID = 1L;

  private final Duration left;

  /**
   * @param left until the other's lock runs out
   */
  public InProgressException(InboxKey key, Duration left) {
    super(
        "%s is being handled, and locked for %s unless that is renewed: roll back, and run the transaction again after that"
            .formatted(key, Texts.time(left)));
    this.left = left;
  }

  /**
   * Until the other's lock runs out, by the store's clock, unless it is renewed; more than zero.
   */
  public Duration left() {
    return left;
  }
}
