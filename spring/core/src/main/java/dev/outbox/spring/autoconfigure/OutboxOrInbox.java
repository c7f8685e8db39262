package dev.outbox.spring.autoconfigure;

import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;

/** Either of them is wanted, so a database is. */
final class OutboxOrInbox extends AnyNestedCondition {
  OutboxOrInbox() {
    super(ConfigurationPhase.PARSE_CONFIGURATION);
  }

  @ConditionalOnBooleanProperty(name = "outbox.enabled", matchIfMissing = true)
  static final class Outbox {}

  @ConditionalOnBooleanProperty("outbox.inbox.enabled")
  static final class Inbox {}
}
