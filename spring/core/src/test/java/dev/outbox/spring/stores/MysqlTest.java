package dev.outbox.spring.stores;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.JoinedOutbox;
import dev.outbox.NoTransactionException;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.inbox.JoinedInbox;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.testing.RecordingPublisher;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
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
              new DriverManagerDataSource(server.jdbcUrl(), server.user(), server.password()));
      admin.execute("create database spring_outbox");
      try (ConfigurableApplicationContext context = start(server)) {
        appendsAndDelivers(context, kind);
      } finally {
        admin.execute("drop database spring_outbox");
      }
    }
  }

  private static ConfigurableApplicationContext start(DatabaseServer server) {
    return new SpringApplicationBuilder(App.class)
        .web(WebApplicationType.NONE)
        .run(
            "--spring.main.banner-mode=off",
            "--spring.autoconfigure.exclude=" + Excluded.MONGO,
            "--spring.datasource.url="
                + server.jdbcUrl().replaceFirst("^jdbc:mariadb:", "jdbc:mysql:"),
            "--spring.datasource.username=" + server.user(),
            "--spring.datasource.password=" + server.password(),
            "--spring.datasource.hikari.catalog=spring_outbox",
            "--outbox.inbox.enabled=true",
            "--outbox.schema-mode=migrate");
  }

  private static void appendsAndDelivers(ConfigurableApplicationContext context, Kind kind) {
    assertThat(context.getBean(OutboxStore.class).getClass().getSimpleName()).isEqualTo(kind.store);
    JoinedOutbox outbox = context.getBean(JoinedOutbox.class);
    TransactionTemplate transaction =
        new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
    assertThatThrownBy(
            () ->
                transaction.executeWithoutResult(
                    status -> {
                      outbox.append(message("order-1"));
                      throw new IllegalStateException("out of stock");
                    }))
        .hasMessage("out of stock");
    transaction.executeWithoutResult(status -> outbox.append(message("order-2")));
    RecordingPublisher publisher = context.getBean(RecordingPublisher.class);
    await()
        .untilAsserted(
            () ->
                assertThat(publisher.delivered())
                    .extracting(stored -> stored.message().aggregateId())
                    .containsExactly("order-2"));
    assertHandledOnce(context.getBean(JoinedInbox.class), transaction);
  }

  /** What was rolled back comes for the first time again. */
  static void assertHandledOnce(JoinedInbox inbox, TransactionTemplate transaction) {
    assertThatThrownBy(
            () ->
                transaction.executeWithoutResult(
                    status -> {
                      assertThat(inbox.firstTime("shipping", "m-1")).isTrue();
                      throw new IllegalStateException("out of boxes");
                    }))
        .hasMessage("out of boxes");
    assertThat(transaction.<Boolean>execute(s -> inbox.firstTime("shipping", "m-1"))).isTrue();
    assertThat(transaction.<Boolean>execute(s -> inbox.firstTime("shipping", "m-1"))).isFalse();
    assertThatThrownBy(() -> inbox.firstTime("shipping", "m-2"))
        .isInstanceOf(NoTransactionException.class);
  }

  static OutboxMessage message(String id) {
    return OutboxMessage.builder()
        .aggregate("order", id)
        .eventType("OrderPlaced")
        .payload("{}")
        .build();
  }
}
