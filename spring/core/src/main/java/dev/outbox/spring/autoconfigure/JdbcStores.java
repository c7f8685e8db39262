package dev.outbox.spring.autoconfigure;

import static java.util.Objects.requireNonNull;

import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StoreProvider;
import dev.outbox.store.jdbc.JdbcStoreProvider;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.SingletonBeanRegistry;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/**
 * The application's data sources, and what is in them: the store of the kind that is named, or the
 * one for the server that answers.
 *
 * @param marked with {@code @OutboxDataSource}
 */
record JdbcStores(
    OutboxProperties properties,
    ListableBeanFactory beans,
    ObjectProvider<DataSource> marked,
    ObjectProvider<DataSource> all) {

  /**
   * The outbox's.
   *
   * @throws OutboxConfigurationException when there are several, and nothing says which
   */
  DataSource dataSource() {
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
  String name(DataSource dataSource) {
    return Stream.of(beans.getBeanNamesForType(DataSource.class, false, false))
        .filter(name -> beans instanceof SingletonBeanRegistry made && made.containsSingleton(name))
        .filter(name -> beans.getBean(name) == dataSource)
        .findFirst()
        .orElseGet(dataSource::toString);
  }

  OutboxStore<Connection> store(DataSource dataSource) {
    StoreProvider.Settings settings =
        new StoreProvider.Settings(
            "",
            "",
            "",
            properties.schema(),
            properties.prefix(),
            properties.dedupWindow(),
            1,
            properties.history());
    JdbcStoreProvider provider = provider(dataSource);
    return OutboxConfigurationException.ofProperties(
        () -> provider.store(target(dataSource), settings));
  }

  InboxStore<Connection> inbox(DataSource dataSource) {
    JdbcStoreProvider provider = provider(dataSource);
    OutboxProperties.Inbox inbox = properties.inbox();
    return OutboxConfigurationException.ofProperties(
        () ->
            provider.inbox(
                target(dataSource), properties.schema(), inbox.prefix(), inbox.retention()));
  }

  /** A store has transactions of its own, and would commit that of the thread. */
  private static DataSource target(DataSource dataSource) {
    return dataSource instanceof TransactionAwareDataSourceProxy proxy
        ? requireNonNull(proxy.getTargetDataSource())
        : dataSource;
  }

  private JdbcStoreProvider provider(DataSource dataSource) {
    String named = properties.store();
    List<JdbcStoreProvider> found =
        ServiceLoader.load(StoreProvider.class, JdbcStores.class.getClassLoader()).stream()
            .filter(provider -> JdbcStoreProvider.class.isAssignableFrom(provider.type()))
            .map(provider -> (JdbcStoreProvider) provider.get())
            .filter(provider -> named == null || provider.name().equals(named))
            .toList();
    if (found.isEmpty()) {
      throw new OutboxConfigurationException(
          named == null
              ? "No store for the outbox is on the class path"
              : "No store named %s is on the class path, which outbox.store asks for"
                  .formatted(named),
          "Add the store of your database, as dev.outbox:outbox-store-postgres.");
    }
    return named != null ? found.get(0) : answering(found, dataSource, name(dataSource));
  }

  /** The driver of one server may lead to another, so the server is asked. */
  private static JdbcStoreProvider answering(
      List<JdbcStoreProvider> found, DataSource dataSource, String name) {
    try (Connection connection = dataSource.getConnection()) {
      for (JdbcStoreProvider provider : found) {
        if (provider.isFor(connection)) {
          return provider;
        }
      }
      throw new OutboxConfigurationException(
          "The DataSource %s leads to %s, and the stores on the class path are those of %s"
              .formatted(
                  name,
                  connection.getMetaData().getDatabaseProductName(),
                  found.stream().map(JdbcStoreProvider::name).collect(Collectors.joining(", "))),
          "Add the store of that database, or set outbox.enabled=false where no outbox is needed, as in a test.");
    } catch (SQLException e) {
      throw new TransientOutboxException(
          "the database of the DataSource %s does not answer, so its kind is not known; is it running, and are URL, user and password right? %s"
              .formatted(name, e.getMessage()),
          e);
    }
  }
}
