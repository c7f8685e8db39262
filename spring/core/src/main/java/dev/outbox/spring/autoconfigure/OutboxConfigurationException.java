package dev.outbox.spring.autoconfigure;

import dev.outbox.PermanentOutboxException;
import org.jspecify.annotations.Nullable;

/** The application cannot have an outbox as it is configured. */
final class OutboxConfigurationException extends PermanentOutboxException {
  private static final long serialVersionUID = 1L;

  private final String action;

  /**
   * @param action what to do, as a sentence
   */
  OutboxConfigurationException(String problem, String action, @Nullable Throwable cause) {
    super(problem, cause);
    this.action = action;
  }

  /** A builder refused what a property says. */
  static OutboxConfigurationException ofProperty(IllegalArgumentException e) {
    return new OutboxConfigurationException(
        "A property outbox.* is refused: " + e.getMessage(), "Correct the property.", e);
  }

  String action() {
    return action;
  }
}
