package dev.outbox.spring.autoconfigure;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import dev.outbox.Outbox.CurrentTransaction;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spring.SpringMongoTransaction;
import dev.outbox.store.mongo.MongoInboxStore;
import dev.outbox.store.mongo.MongoOutboxStore;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.data.mongodb.MongoDatabaseFactory;

/**
 * Outbox and inbox of MongoDB, in the database of the application's {@link MongoDatabaseFactory}.
 * Where a relational one is there too, {@code outbox.store} has to say which.
 */
@AutoConfiguration(
    after = OutboxJdbcAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.autoconfigure.data.mongo.MongoDataAutoConfiguration",
      "org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration"
    })
@ConditionalOnClass({MongoClient.class, MongoDatabaseFactory.class, MongoOutboxStore.class})
@Conditional(OutboxOrInbox.class)
@ConditionalOnProperty(
    name = "outbox.store",
    havingValue = OutboxJdbcAutoConfiguration.MONGO,
    matchIfMissing = true)
@ConditionalOnBean({MongoClient.class, MongoDatabaseFactory.class})
@EnableConfigurationProperties(OutboxProperties.class)
final class OutboxMongoAutoConfiguration {

  /** Refuses before any bean is made, and so before a database is changed. */
  @Bean
  static BeanFactoryPostProcessor outboxOneDatabase() {
    return beans -> {
      if (beans.containsBean(OutboxJdbcAutoConfiguration.STORE_BEAN)
          || beans.containsBean(OutboxJdbcAutoConfiguration.INBOX_BEAN)) {
        throw new OutboxConfigurationException(
            "There are two databases for the outbox, a DataSource and MongoDB, and a store for each",
            "Set outbox.store=mongo, or to the name of the other store, as postgres; or take one of the two stores from the class path.");
      }
    };
  }

  @Bean
  @ConditionalOnBooleanProperty(name = "outbox.enabled", matchIfMissing = true)
  @ConditionalOnMissingBean(OutboxStore.class)
  OutboxStore<ClientSession> outboxMongoStore(
      OutboxProperties properties, MongoClient client, MongoDatabaseFactory factory) {
    OutboxStore<ClientSession> store =
        OutboxConfigurationException.ofProperties(
            () ->
                MongoOutboxStore.builder(client, factory.getMongoDatabase().getName())
                    .prefix(properties.prefix())
                    .dedupWindow(properties.dedupWindow())
                    .archive(properties.archive())
                    .archiveRetention(properties.archiveRetention())
                    .deadLetterRetention(properties.deadLetterRetention())
                    .build());
    return properties.schemaMode().applyTo(store);
  }

  @Bean
  @ConditionalOnBooleanProperty("outbox.inbox.enabled")
  @ConditionalOnMissingBean(InboxStore.class)
  InboxStore<ClientSession> outboxMongoInbox(
      OutboxProperties properties, MongoClient client, MongoDatabaseFactory factory) {
    OutboxProperties.Inbox inbox = properties.inbox();
    InboxStore<ClientSession> store =
        OutboxConfigurationException.ofProperties(
            () ->
                MongoInboxStore.builder(client, factory.getMongoDatabase().getName())
                    .prefix(inbox.prefix())
                    .retention(inbox.retention())
                    .build());
    return properties.schemaMode().applyTo(store);
  }

  @Bean
  @ConditionalOnMissingBean
  CurrentTransaction<ClientSession> outboxMongoTransaction(MongoDatabaseFactory factory) {
    return SpringMongoTransaction.of(factory);
  }
}
