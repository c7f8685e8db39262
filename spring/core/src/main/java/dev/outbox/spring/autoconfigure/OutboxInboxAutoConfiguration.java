package dev.outbox.spring.autoconfigure;

import dev.outbox.Outbox.CurrentTransaction;
import dev.outbox.inbox.JoinedInbox;
import dev.outbox.spi.store.InboxStore;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** The inbox that listeners ask, and its housekeeping, on whichever store. */
@AutoConfiguration(after = {OutboxJdbcAutoConfiguration.class, OutboxMongoAutoConfiguration.class})
@ConditionalOnBooleanProperty("outbox.inbox.enabled")
final class OutboxInboxAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  @ConditionalOnBean({InboxStore.class, CurrentTransaction.class})
  JoinedInbox outboxInbox(InboxStore<?> store, CurrentTransaction<?> transaction) {
    return join(store, transaction);
  }

  /** Both are of one type of transaction: they were made for the same database. */
  @SuppressWarnings("unchecked")
  private static <T> JoinedInbox join(InboxStore<T> store, CurrentTransaction<?> transaction) {
    return new SpringInbox<>(store, (CurrentTransaction<T>) transaction);
  }

  @Bean
  @ConditionalOnBooleanProperty(name = "outbox.inbox.purge", matchIfMissing = true)
  @ConditionalOnBean(InboxStore.class)
  InboxPurge outboxInboxPurge(InboxStore<?> store) {
    return new InboxPurge(store);
  }
}
