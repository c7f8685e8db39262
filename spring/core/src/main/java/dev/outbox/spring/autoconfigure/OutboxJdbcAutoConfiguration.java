package dev.outbox.spring.autoconfigure;

import dev.outbox.Outbox.CurrentTransaction;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spring.OutboxDataSource;
import dev.outbox.spring.OutboxFactory;
import dev.outbox.spring.OutboxRelayDataSource;
import dev.outbox.spring.SpringTransaction;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.sql.Connection;
import javax.sql.DataSource;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.NoneNestedConditions;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.PriorityOrdered;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

/** Outbox and inbox of a relational database, in the application's {@link DataSource}. */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
      "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration"
    })
@ConditionalOnClass({DataSource.class, DataSourceUtils.class, JdbcOutboxStore.class})
@ConditionalOnBean(DataSource.class)
@Conditional({OutboxOrInbox.class, OutboxJdbcAutoConfiguration.NotMongo.class})
@EnableConfigurationProperties(OutboxProperties.class)
final class OutboxJdbcAutoConfiguration {

  /** The value of {@code outbox.store} that means MongoDB. */
  static final String MONGO = "mongo";

  static final String STORE_BEAN = "outboxJdbcStore";
  static final String INBOX_BEAN = "outboxJdbcInbox";

  static final class NotMongo extends NoneNestedConditions {
    NotMongo() {
      super(ConfigurationPhase.PARSE_CONFIGURATION);
    }

    @ConditionalOnProperty(name = "outbox.store", havingValue = MONGO)
    static final class Mongo {}
  }

  @Bean
  JdbcStores outboxJdbcStores(
      OutboxProperties properties,
      ListableBeanFactory beans,
      @OutboxDataSource ObjectProvider<DataSource> marked,
      ObjectProvider<DataSource> all) {
    return new JdbcStores(properties, beans, marked, all);
  }

  @Bean(STORE_BEAN)
  @ConditionalOnBooleanProperty(name = "outbox.enabled", matchIfMissing = true)
  @ConditionalOnMissingBean(OutboxStore.class)
  OutboxStore<Connection> outboxJdbcStore(OutboxProperties properties, JdbcStores stores) {
    return properties.schemaMode().applyTo(stores.store(stores.dataSource()));
  }

  @Bean(INBOX_BEAN)
  @ConditionalOnBooleanProperty("outbox.inbox.enabled")
  @ConditionalOnMissingBean(InboxStore.class)
  InboxStore<Connection> outboxJdbcInbox(OutboxProperties properties, JdbcStores stores) {
    return properties.schemaMode().applyTo(stores.inbox(stores.dataSource()));
  }

  @Bean
  @ConditionalOnMissingBean
  CurrentTransaction<Connection> outboxTransaction(OutboxProperties properties, JdbcStores stores) {
    return SpringTransaction.of(stores.dataSource(), properties.append().flushJpa(), stores::name);
  }

  @Bean
  @ConditionalOnBooleanProperty(name = "outbox.enabled", matchIfMissing = true)
  OutboxFactory outboxFactory(
      OutboxProperties properties, JdbcStores stores, Relays relays, ListableBeanFactory beans) {
    return new MoreOutboxes(properties, stores, relays, beans);
  }

  @Bean
  static Managers outboxTransactionManagers() {
    return new Managers();
  }

  /**
   * Listens to each manager before its initialization, after which others may have wrapped it. Is
   * there before what other post-processors and advisors need: that may be a manager.
   */
  static final class Managers implements BeanPostProcessor, PriorityOrdered {
    @Override
    public Object postProcessBeforeInitialization(Object bean, String name) {
      if (bean instanceof PlatformTransactionManager
          && bean instanceof ConfigurableTransactionManager manager) {
        SpringTransaction.listenTo(manager);
        HandOver.listenTo(manager);
      }
      return bean;
    }

    @Override
    public int getOrder() {
      return LOWEST_PRECEDENCE;
    }
  }

  /** No condition looks for the relay's data source: conditions pass over what is no candidate. */
  @Bean
  @Lazy
  RelayStore outboxRelayStore(
      JdbcStores stores,
      ObjectProvider<OutboxStore<?>> store,
      @OutboxRelayDataSource ObjectProvider<DataSource> own) {
    DataSource dataSource = own.getIfAvailable();
    return new RelayStore(dataSource == null ? store.getObject() : stores.store(dataSource));
  }
}
