package dev.outbox.spring.autoconfigure;

import dev.outbox.OutboxException;
import dev.outbox.SchemaException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Says why an application with an outbox does not start, and what to do. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class OutboxFailureAnalyzer extends AbstractFailureAnalyzer<OutboxException> {

  @Override
  protected @Nullable FailureAnalysis analyze(Throwable rootFailure, OutboxException cause) {
    return new FailureAnalysis(sentence(cause), action(cause), cause);
  }

  private static String sentence(OutboxException cause) {
    String message = String.valueOf(cause.getMessage());
    String upper = message.substring(0, 1).toUpperCase(Locale.ROOT) + message.substring(1);
    return upper.matches("(?s).*[.?!]\\s*") ? upper.strip() : upper + ".";
  }

  private static String action(OutboxException cause) {
    if (cause instanceof OutboxConfigurationException configuration) {
      return configuration.action();
    }
    return cause instanceof SchemaException
        ? "Set outbox.schema-mode=migrate, with org.liquibase:liquibase-core on the class path; or"
            + " copy the SQL file that docs/spring.md names for your database, of the outbox, its"
            + " archive or its inbox, to where the tool that you have finds its migrations, as"
            + " Flyway."
        : "Do what the description says, or set outbox.enabled=false where no outbox is needed.";
  }
}
