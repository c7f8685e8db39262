package dev.outbox.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Archive;
import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.store.postgres.PostgresInboxStore;
import dev.outbox.store.postgres.PostgresOutboxStore;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/** With the store of PostgreSQL on the class path. */
class JdbcStoresTest {
  private static OutboxStore<Connection> store(String product, Map<String, String> properties) {
    return JdbcStores.store(bound(properties), database(product), "orders");
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
  void theServerSaysWhichStore() {
    assertThat(store("PostgreSQL", Map.of())).isInstanceOf(PostgresOutboxStore.class);
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
  void theStoreKeepsWhatIsAskedFor() {
    assertThat(((ArchiveStore) store("PostgreSQL", Map.of())).archive()).isEqualTo(Archive.NONE);
    assertThat(((ArchiveStore) store("PostgreSQL", Map.of("outbox.archive", "full"))).archive())
        .isEqualTo(Archive.FULL);
    assertThatThrownBy(() -> store("PostgreSQL", Map.of("outbox.archive-retention", "0s")))
        .isInstanceOf(OutboxConfigurationException.class)
        .hasMessageStartingWith("A property outbox.* is refused: archiveRetention is 0s");
  }

  @Test
  void theInboxIsOfTheSameServer() {
    assertThat(inbox(Map.of("outbox.inbox.prefix", "shop_")))
        .isInstanceOf(PostgresInboxStore.class);
  }

  @Test
  void aRetentionThatCannotBeIsRefused() {
    assertThatThrownBy(() -> inbox(Map.of("outbox.inbox.retention", "0s")))
        .isInstanceOf(OutboxConfigurationException.class)
        .hasMessageStartingWith("A property outbox.* is refused: retention is 0s");
  }

  private static InboxStore<Connection> inbox(Map<String, String> properties) {
    return JdbcStores.inbox(bound(properties), database("PostgreSQL"), "orders");
  }

  /** As where a proxy says another name. */
  @Test
  void whoNamesAStoreGetsIt() {
    assertThat(store("Yugabyte", Map.of("outbox.store", "postgres")))
        .isInstanceOf(PostgresOutboxStore.class);
  }
}
