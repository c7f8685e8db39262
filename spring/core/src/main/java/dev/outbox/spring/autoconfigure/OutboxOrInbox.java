package dev.outbox.spring.autoconfigure;

import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;

/** Matches when an outbox or an inbox is wanted, and so a database. */
final class OutboxOrInbox extends AnyNestedCondition {
  OutboxOrInbox() {
    super(ConfigurationPhase.PARSE_CONFIGURATION);
  }

  @ConditionalOnBooleanProperty(name = "outbox.enabled", matchIfMissing = true)
  static final class Outbox {}

  @ConditionalOnBooleanProperty("outbox.inbox.enabled")
  static final class Inbox {}
}
