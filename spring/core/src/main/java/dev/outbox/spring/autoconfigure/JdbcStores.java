package dev.outbox.spring.autoconfigure;

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
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Finds the store of a data source, and its inbox: of the kind that is named, or the one for the
 * server that answers.
 */
final class JdbcStores {
  private JdbcStores() {}

  /**
   * @param name of the data source, for errors
   */
  static OutboxStore<Connection> store(
      OutboxProperties properties, DataSource dataSource, String name) {
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
    JdbcStoreProvider provider = provider(properties.store(), dataSource, name);
    return OutboxConfigurationException.ofProperties(() -> provider.store(dataSource, settings));
  }

  /**
   * @param name of the data source, for errors
   */
  static InboxStore<Connection> inbox(
      OutboxProperties properties, DataSource dataSource, String name) {
    JdbcStoreProvider provider = provider(properties.store(), dataSource, name);
    OutboxProperties.Inbox inbox = properties.inbox();
    return OutboxConfigurationException.ofProperties(
        () -> provider.inbox(dataSource, properties.schema(), inbox.prefix(), inbox.retention()));
  }

  private static JdbcStoreProvider provider(
      @Nullable String named, DataSource dataSource, String name) {
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
    return named != null ? found.get(0) : answering(found, dataSource, name);
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
