package dev.outbox.spring.autoconfigure;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import dev.outbox.CurrentTransaction;
import dev.outbox.spi.OutboxStore;
import dev.outbox.spring.SpringMongoTransaction;
import dev.outbox.store.mongo.MongoOutboxStore;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.data.mongodb.MongoDatabaseFactory;

/**
 * The store of MongoDB, in the database of the application's {@link MongoDatabaseFactory}. Where a
 * relational one is there too, {@code outbox.store} has to say which.
 */
@AutoConfiguration(
    after = OutboxJdbcAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.autoconfigure.data.mongo.MongoDataAutoConfiguration",
      "org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration"
    })
@ConditionalOnClass({MongoClient.class, MongoDatabaseFactory.class, MongoOutboxStore.class})
@ConditionalOnBooleanProperty(name = "outbox.enabled", matchIfMissing = true)
@ConditionalOnProperty(
    name = "outbox.store",
    havingValue = OutboxMongoAutoConfiguration.STORE,
    matchIfMissing = true)
@ConditionalOnBean({MongoClient.class, MongoDatabaseFactory.class})
@EnableConfigurationProperties(OutboxProperties.class)
@ImportRuntimeHints(OutboxRuntimeHints.class)
final class OutboxMongoAutoConfiguration {
  static final String STORE = "mongo";

  /** There is a relational store too, and nobody said which of them is meant. */
  record SeveralStores() {}

  @Bean
  @ConditionalOnBean(name = OutboxJdbcAutoConfiguration.STORE_BEAN)
  SeveralStores outboxSeveralStores() {
    throw new OutboxConfigurationException(
        "There are two databases for the outbox, a DataSource and MongoDB, and a store for each",
        "Set outbox.store=mongo, or to the name of the other store, as postgres; or take one of the two stores from the class path.",
        null);
  }

  @Bean
  @ConditionalOnMissingBean(OutboxStore.class)
  OutboxStore<ClientSession> outboxMongoStore(
      OutboxProperties properties, MongoClient client, MongoDatabaseFactory factory) {
    OutboxStore<ClientSession> store = store(properties, client, factory);
    SchemaModes.apply(properties.schemaMode(), store);
    return store;
  }

  private static OutboxStore<ClientSession> store(
      OutboxProperties properties, MongoClient client, MongoDatabaseFactory factory) {
    try {
      return MongoOutboxStore.builder(client, factory.getMongoDatabase().getName())
          .prefix(properties.prefix())
          .dedupWindow(properties.dedupWindow())
          .build();
    } catch (IllegalArgumentException e) {
      throw new OutboxConfigurationException(
          "A property outbox.* is refused: " + e.getMessage(), "Correct the property.", e);
    }
  }

  @Bean
  @ConditionalOnMissingBean
  CurrentTransaction<ClientSession> outboxMongoTransaction(MongoDatabaseFactory factory) {
    return SpringMongoTransaction.of(factory);
  }
}
