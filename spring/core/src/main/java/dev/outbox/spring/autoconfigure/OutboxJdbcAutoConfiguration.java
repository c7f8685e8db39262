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
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.SingletonBeanRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.NoneNestedConditions;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.ImportRuntimeHints;
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
@ImportRuntimeHints(OutboxRuntimeHints.class)
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

  /** After what Boot itself does to the database, as with Flyway. */
  @Bean(STORE_BEAN)
  @ConditionalOnBooleanProperty(name = "outbox.enabled", matchIfMissing = true)
  @ConditionalOnMissingBean(OutboxStore.class)
  @DependsOnDatabaseInitialization
  OutboxStore<Connection> outboxJdbcStore(
      OutboxProperties properties,
      ListableBeanFactory beans,
      @OutboxDataSource ObjectProvider<DataSource> marked,
      ObjectProvider<DataSource> all) {
    DataSource dataSource = dataSource(beans, marked, all);
    return properties
        .schemaMode()
        .applyTo(JdbcStores.store(properties, dataSource, name(beans, dataSource)));
  }

  @Bean(INBOX_BEAN)
  @ConditionalOnBooleanProperty("outbox.inbox.enabled")
  @ConditionalOnMissingBean(InboxStore.class)
  @DependsOnDatabaseInitialization
  InboxStore<Connection> outboxJdbcInbox(
      OutboxProperties properties,
      ListableBeanFactory beans,
      @OutboxDataSource ObjectProvider<DataSource> marked,
      ObjectProvider<DataSource> all) {
    DataSource dataSource = dataSource(beans, marked, all);
    return properties
        .schemaMode()
        .applyTo(JdbcStores.inbox(properties, dataSource, name(beans, dataSource)));
  }

  @Bean
  @ConditionalOnMissingBean
  CurrentTransaction<Connection> outboxTransaction(
      OutboxProperties properties,
      ListableBeanFactory beans,
      @OutboxDataSource ObjectProvider<DataSource> marked,
      ObjectProvider<DataSource> all) {
    return SpringTransaction.of(
        dataSource(beans, marked, all),
        properties.append().flushJpa(),
        dataSource -> name(beans, dataSource));
  }

  @Bean
  @ConditionalOnBooleanProperty(name = "outbox.enabled", matchIfMissing = true)
  OutboxFactory outboxFactory(
      OutboxProperties properties, Relays relays, ListableBeanFactory beans) {
    return new MoreOutboxes(properties, relays, beans, dataSource -> name(beans, dataSource));
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
      OutboxProperties properties,
      ListableBeanFactory beans,
      ObjectProvider<OutboxStore<?>> store,
      @OutboxRelayDataSource ObjectProvider<DataSource> own) {
    DataSource dataSource = own.getIfAvailable();
    return new RelayStore(
        dataSource == null
            ? store.getObject()
            : JdbcStores.store(properties, dataSource, name(beans, dataSource)));
  }

  private static DataSource dataSource(
      ListableBeanFactory beans,
      ObjectProvider<DataSource> marked,
      ObjectProvider<DataSource> all) {
    DataSource dataSource = marked.getIfUnique(all::getIfUnique);
    if (dataSource == null) {
      throw new OutboxConfigurationException(
          "There are several DataSources, %s, and none of them is the outbox's"
              .formatted(String.join(", ", beans.getBeanNamesForType(DataSource.class))),
          "Put @OutboxDataSource or @Primary on the method of the one whose transactions append messages; further ones get an outbox by the OutboxFactory.");
    }
    return dataSource;
  }

  /** The bean's name; of what is no bean, what it says of itself. Makes no bean. */
  private static String name(ListableBeanFactory beans, DataSource dataSource) {
    return Stream.of(beans.getBeanNamesForType(DataSource.class, false, false))
        .filter(name -> beans instanceof SingletonBeanRegistry made && made.containsSingleton(name))
        .filter(name -> beans.getBean(name) == dataSource)
        .findFirst()
        .orElseGet(dataSource::toString);
  }
}
