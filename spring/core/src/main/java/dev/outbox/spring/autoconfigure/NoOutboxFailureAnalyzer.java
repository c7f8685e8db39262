package dev.outbox.spring.autoconfigure;

import dev.outbox.JoinedOutbox;
import dev.outbox.inbox.Inbox;
import dev.outbox.inbox.JoinedInbox;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.OutboxStore;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Says why there is no outbox or inbox to inject, or no single store or publisher. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class NoOutboxFailureAnalyzer extends AbstractFailureAnalyzer<NoSuchBeanDefinitionException> {

  @Override
  protected @Nullable FailureAnalysis analyze(
      Throwable rootFailure, NoSuchBeanDefinitionException cause) {
    Class<?> type = cause.getResolvableType() == null ? null : cause.getResolvableType().resolve();
    if (cause instanceof NoUniqueBeanDefinitionException several && type == OutboxStore.class) {
      return new FailureAnalysis(
          "There are several stores for the outbox: %s."
              .formatted(String.join(", ", several.getBeanNamesFound())),
          "Put @Primary on one of them; for several data sources let the OutboxFactory make the others: docs/spring.md.",
          cause);
    }
    if (cause instanceof NoUniqueBeanDefinitionException several
        && type == MessagePublisher.class) {
      return new FailureAnalysis(
          "There are several publishers for the outbox's relay: %s."
              .formatted(String.join(", ", several.getBeanNamesFound())),
          "Put @Primary on one of them, which takes all messages; or make one of them by RoutingPublisher, and let that be the bean.",
          cause);
    }
    if (cause instanceof NoUniqueBeanDefinitionException) {
      return null; // Boot names them
    }
    if (type != null && (type == JoinedInbox.class || Inbox.class.isAssignableFrom(type))) {
      return new FailureAnalysis(
          "There is no %s to inject.".formatted(type.getSimpleName()),
          "Set outbox.inbox.enabled=true, with the store of your database on the class path, as dev.outbox:outbox-store-postgres, and a DataSource (spring.datasource.url), or for MongoDB a MongoDatabaseFactory.",
          cause);
    }
    return type == JoinedOutbox.class
        ? new FailureAnalysis(
            "There is no JoinedOutbox to inject, because there is no store for it.",
            "Add the store of your database, as dev.outbox:outbox-store-postgres, and have a DataSource (spring.datasource.url), or for MongoDB a MongoDatabaseFactory; and do not set outbox.enabled=false. A slice of a test, as @JdbcTest, has none unless @AutoConfigureRecordingOutbox of dev.outbox:outbox-spring-test stands beside it.",
            cause)
        : null;
  }
}
