package dev.outbox.spring.autoconfigure;

import dev.outbox.PermanentOutboxException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The application cannot have an outbox as it is configured. */
final class OutboxConfigurationException extends PermanentOutboxException {
  private static final long serialVersionUID = 1L;

  private final String action;

  /**
   * @param action what to do, as a sentence
   */
  OutboxConfigurationException(String problem, String action) {
    this(problem, action, null);
  }

  private OutboxConfigurationException(String problem, String action, @Nullable Throwable cause) {
    super(problem, cause);
    this.action = action;
  }

  /**
   * Builds what properties describe.
   *
   * @throws OutboxConfigurationException when the builder refuses what one of them says
   */
  static <T> T ofProperties(Supplier<T> builder) {
    return whereRefused("A property outbox.* is refused", "Correct the property.", builder);
  }

  /**
   * Gives what some work gives, and is thrown where that refuses a value.
   *
   * @param problem its description, which goes on with why
   */
  static <T> T whereRefused(String problem, String action, Supplier<T> work) {
    try {
      return work.get();
    } catch (IllegalArgumentException e) {
      throw new OutboxConfigurationException(problem + ": " + e.getMessage(), action, e);
    }
  }

  String action() {
    return action;
  }
}
