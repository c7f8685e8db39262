package dev.outbox.spring.stores;

import static dev.outbox.spring.Application.message;
import static dev.outbox.spring.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.JoinedOutbox;
import dev.outbox.NoTransactionException;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.inbox.JoinedInbox;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spring.Application;
import dev.outbox.testing.RecordingPublisher;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.support.TransactionTemplate;

/** Which store it is, is for the server to say: the driver is MySQL's in both cases. */
class MysqlTest {
  enum Kind {
    MYSQL("MysqlOutboxStore", DatabaseServer::mysql),
    MARIADB("MariadbOutboxStore", DatabaseServer::mariadb);

    final String store;
    final Supplier<DatabaseServer> start;

    Kind(String store, Supplier<DatabaseServer> start) {
      this.store = store;
      this.start = start;
    }
  }

  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class App {
    @Bean
    RecordingPublisher publisher() {
      return new RecordingPublisher();
    }
  }

  @ParameterizedTest
  @EnumSource
  void commitDeliversAndRollbackLeavesNothing(Kind kind) {
    try (DatabaseServer server = kind.start.get()) {
      JdbcTemplate admin =
          new JdbcTemplate(
              new DriverManagerDataSource(url(server), server.user(), server.password()));
      admin.execute("create database spring_outbox");
      try (Application application = start(server)) {
        appendsAndDelivers(application, kind);
      } finally {
        admin.execute("drop database spring_outbox");
      }
    }
  }

  /** By MySQL's driver, which is on the class path. */
  private static String url(DatabaseServer server) {
    return server.jdbcUrl().replaceFirst("^jdbc:mariadb:", "jdbc:mysql:");
  }

  private static Application start(DatabaseServer server) {
    return Application.run(
        App.class,
        "--spring.main.banner-mode=off",
        "--spring.autoconfigure.exclude=" + Excluded.MONGO,
        "--spring.datasource.url=" + url(server),
        "--spring.datasource.username=" + server.user(),
        "--spring.datasource.password=" + server.password(),
        "--spring.datasource.hikari.catalog=spring_outbox",
        "--outbox.inbox.enabled=true",
        "--outbox.schema-mode=migrate");
  }

  private static void appendsAndDelivers(Application application, Kind kind) {
    assertThat(application.bean(OutboxStore.class).getClass().getSimpleName())
        .isEqualTo(kind.store);
    JoinedOutbox outbox = application.bean(JoinedOutbox.class);
    TransactionTemplate transaction = application.transaction();
    Application.rollBack(transaction, () -> outbox.append(message("order-1", "OrderPlaced")));
    Application.commit(transaction, () -> outbox.append(message("order-2", "OrderPlaced")));
    await()
        .untilAsserted(
            () -> assertThat(application.delivered()).containsExactly("OrderPlaced order-2"));
    assertHandledOnce(application.bean(JoinedInbox.class), transaction);
  }

  /** What was rolled back comes for the first time again. */
  static void assertHandledOnce(JoinedInbox inbox, TransactionTemplate transaction) {
    Application.rollBack(
        transaction, () -> assertThat(inbox.firstTime("shipping", "m-1")).isTrue());
    assertThat(transaction.<Boolean>execute(s -> inbox.firstTime("shipping", "m-1"))).isTrue();
    assertThat(transaction.<Boolean>execute(s -> inbox.firstTime("shipping", "m-1"))).isFalse();
    assertThatThrownBy(() -> inbox.firstTime("shipping", "m-2"))
        .isInstanceOf(NoTransactionException.class);
  }
}
