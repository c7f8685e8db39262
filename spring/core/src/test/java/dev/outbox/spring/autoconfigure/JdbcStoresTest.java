package dev.outbox.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Archive;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.OutboxStore;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.Driver;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;

/** With the store of PostgreSQL on the class path. */
class JdbcStoresTest {
  private static OutboxStore<Connection> store(String product, Map<String, String> properties) {
    DataSource database = database(product);
    return stores(properties, database).store(database);
  }

  /** With a bean named orders. */
  private static JdbcStores stores(Map<String, String> properties, DataSource orders) {
    DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
    beans.registerSingleton("orders", orders);
    ObjectProvider<DataSource> all = beans.getBeanProvider(DataSource.class);
    return new JdbcStores(bound(properties), beans, all, all);
  }

  private static OutboxProperties bound(Map<String, String> properties) {
    return new Binder(new MapConfigurationPropertySource(properties))
        .bindOrCreate("outbox", OutboxProperties.class);
  }

  /** Of whose server nothing is known but its name. */
  private static DataSource database(String product) {
    DatabaseMetaData about = answering(DatabaseMetaData.class, product);
    Connection connection = answering(Connection.class, about);
    return answering(DataSource.class, connection);
  }

  private static <T> T answering(Class<T> type, Object answer) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) ->
                method.getReturnType().isInstance(answer) ? answer : null));
  }

  @Test
  void aServerWithoutAStoreIsNamed() {
    assertThatThrownBy(() -> store("H2", Map.of()))
        .hasMessage(
            "The DataSource orders leads to H2, and the stores on the class path are those of postgres")
        .isInstanceOfSatisfying(
            OutboxConfigurationException.class,
            e -> assertThat(e.action()).contains("outbox.enabled=false", "as in a test"));
  }

  @Test
  void aServerThatDoesNotAnswerIsNamed() {
    DataSource away = new SimpleDriverDataSource(new Driver(), "jdbc:postgresql://127.0.0.1:1/x");
    assertThatThrownBy(() -> stores(Map.of(), away).store(away))
        .isInstanceOf(TransientOutboxException.class)
        .hasMessageContaining("the database of the DataSource orders does not answer")
        .hasMessageContaining("127.0.0.1:1");
  }

  @Test
  void aStoreThatIsNotThereIsNamed() {
    assertThatThrownBy(() -> store("PostgreSQL", Map.of("outbox.store", "mysql")))
        .hasMessageContaining("No store named mysql is on the class path")
        .isInstanceOfSatisfying(
            OutboxConfigurationException.class,
            e -> assertThat(e.action()).contains("dev.outbox:outbox-store-postgres"));
  }

  @Test
  void theStoreKeepsWhatIsAskedFor() {
    assertThat(((ArchiveStore) store("PostgreSQL", Map.of("outbox.archive", "full"))).archive())
        .isEqualTo(Archive.FULL);
  }

  @ParameterizedTest
  @CsvSource({
    "outbox.prefix, out box, prefix 'out box'",
    "outbox.archive-retention, 0s, archiveRetention is 0s",
    "outbox.inbox.prefix, in box, prefix 'in box'",
    "outbox.inbox.retention, 0s, retention is 0s"
  })
  void whatCannotBeIsRefused(String property, String value, String problem) {
    DataSource database = database("PostgreSQL");
    JdbcStores stores = stores(Map.of(property, value), database);
    assertThatThrownBy(
            () -> {
              OutboxStore<Connection> ignored = stores.store(database);
              InboxStore<Connection> alsoIgnored = stores.inbox(database);
            })
        .isInstanceOf(OutboxConfigurationException.class)
        .hasMessageStartingWith("A property outbox.* is refused: " + problem);
  }
}
