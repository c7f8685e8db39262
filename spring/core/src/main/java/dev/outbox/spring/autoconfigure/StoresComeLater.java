package dev.outbox.spring.autoconfigure;

import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spring.DataSourceOutbox;
import java.util.Set;
import org.springframework.boot.sql.init.dependency.AbstractBeansOfTypeDependsOnDatabaseInitializationDetector;

/**
 * Makes stores, and outboxes of further data sources, wait for what the application itself does to
 * databases, as with Flyway: they look for their tables.
 */
final class StoresComeLater extends AbstractBeansOfTypeDependsOnDatabaseInitializationDetector {
  @Override
  protected Set<Class<?>> getDependsOnDatabaseInitializationBeanTypes() {
    return Set.of(OutboxStore.class, InboxStore.class, DataSourceOutbox.class);
  }
}
