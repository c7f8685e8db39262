package dev.outbox.spring;

import static dev.outbox.spring.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.NoTransactionException;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.InboxKey;
import dev.outbox.relay.RelayEvent;
import dev.outbox.relay.RelayListener;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.testing.RecordingPublisher;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Two databases, of which one has the outbox, and a pool of the relay's own. */
@ExtendWith(Servers.Resolver.class)
class DataSourcesTest {

  /** Two pools for one database; whoever has this makes the other one. */
  abstract static class Pools {
    @Bean
    HikariDataSource orders(Environment environment) {
      return pool("orders", environment, 2);
    }

    @Bean
    DataSourceTransactionManager ordersTransactions(DataSource orders) {
      return new DataSourceTransactionManager(orders);
    }

    @Bean
    DataSourceTransactionManager billingTransactions(@OutboxDataSource DataSource billing) {
      return new DataSourceTransactionManager(billing);
    }

    @Bean
    RecordingPublisher publisher() {
      return new RecordingPublisher();
    }
  }

  @SpringBootConfiguration
  @EnableAutoConfiguration
  @Import(Listening.class)
  static class Marked extends Pools {

    /** A single connection would not do for a relay. */
    @Bean
    @OutboxDataSource
    HikariDataSource billing(Environment environment) {
      return pool("billing", environment, 1);
    }

    @Bean(defaultCandidate = false)
    @OutboxRelayDataSource
    HikariDataSource relays(Environment environment) {
      return pool("relays", environment, 3);
    }

    /** Needs a manager before most post-processors are there, as an advisor may. */
    @Bean
    static BeanPostProcessor early(
        @Qualifier("billingTransactions") PlatformTransactionManager manager) {
      return new BeanPostProcessor() {};
    }

    /** Nobody asks for it. */
    @Bean(autowireCandidate = false)
    @Lazy
    DataSource reports() {
      throw new IllegalStateException("its password is not there yet");
    }
  }

  /** What applications add to a relay. */
  static class Listening {
    final List<RelayEvent> events = new CopyOnWriteArrayList<>();

    @Bean
    RelayListener listener() {
      return events::add;
    }

    @Bean
    RelayCustomizer customizer() {
      return relay -> relay.name("customized");
    }
  }

  /** Whose connections are not in auto-commit mode, so that they do not betray a mistake. */
  static HikariDataSource pool(String name, Environment environment, int size) {
    HikariDataSource pool = new HikariDataSource();
    pool.setPoolName(name + "-pool");
    pool.setDriverClassName("org.postgresql.Driver");
    pool.setJdbcUrl(environment.getRequiredProperty("spring.datasource.url"));
    pool.setUsername(environment.getRequiredProperty("spring.datasource.username"));
    pool.setPassword(environment.getRequiredProperty("spring.datasource.password"));
    pool.setMaximumPoolSize(size);
    pool.setAutoCommit(false);
    return pool;
  }

  @AutoClose private static Application shop;

  @BeforeAll
  static void start(Servers servers) throws SQLException {
    shop =
        Application.start(
            servers.schema(), List.of(Marked.class), "--spring.main.lazy-initialization=true");
  }

  private static TransactionTemplate billing() {
    return shop.transaction("billingTransactions");
  }

  private static TransactionTemplate orders() {
    return shop.transaction("ordersTransactions");
  }

  private static void append(String id) {
    shop.append(Application.message(id, "Billed"));
  }

  private static void awaitDelivered(String... messages) {
    await().untilAsserted(() -> assertThat(shop.delivered()).contains(messages));
  }

  @Test
  void theRelayRunsAlthoughAllElseIsLazy() {
    assertThat(shop.context().getBeanFactory().containsSingleton("outboxRelay")).isTrue();
    assertThat(shop.bean(OutboxRelay.class).isAlive()).isTrue();
  }

  @Test
  void aTransactionOfTheMarkedOneIsJoined() {
    Application.commit(billing(), () -> append("bill-1"));
    awaitDelivered("Billed bill-1");
    await() // the listeners are told after the publisher has it
        .untilAsserted(
            () ->
                assertThat(shop.bean(Listening.class).events)
                    .hasAtLeastOneElementOfType(RelayEvent.Delivered.class));
    assertThat(shop.bean(Listening.class).events)
        .allMatch(event -> event.who().startsWith("customized"));
  }

  /**
   * A connection that was asked for before is bound to the thread, and to no transaction of its
   * data source.
   */
  @Test
  void aTransactionOfTheOtherIsRefused() {
    JdbcTemplate billing = new JdbcTemplate(shop.context().getBean("billing", DataSource.class));
    Application.commit(
        orders(),
        () -> {
          assertRefused();
          assertThat(billing.queryForList("select 1")).hasSize(1);
          assertRefused();
        });
  }

  private static void assertRefused() {
    assertThatThrownBy(() -> append("bill-2"))
        .isInstanceOf(NoTransactionException.class)
        .hasMessageContaining("one of the DataSource orders,")
        .hasMessageContaining("outbox is in the DataSource billing:")
        .hasMessageContaining("@Transactional(");
  }

  /** Spring calls after the commit of the inner one, and what is appended then joins the outer. */
  @Test
  void theEndOfAnotherInsideIsNotIts() {
    Application.rollBack(billing(), () -> appendAtTheEndOfAnother("bill-4"));
    Application.commit(billing(), () -> appendAtTheEndOfAnother("bill-5"));
    awaitDelivered("Billed bill-5", "Billed bill-5-completed");
    assertThat(shop.delivered()).doesNotContain("Billed bill-4", "Billed bill-4-completed");
  }

  private static void appendAtTheEndOfAnother(String id) {
    Application.commit(
        orders(),
        () -> TransactionSynchronizationManager.registerSynchronization(new Appending(id)));
  }

  /** When it is over. */
  private record Appending(String id) implements TransactionSynchronization {
    @Override
    public void afterCommit() {
      append(id);
    }

    @Override
    public void afterCompletion(int status) {
      append(id + "-completed");
    }
  }

  /** Nobody could tell when its transactions are over. */
  @Test
  void aManagerThatIsNoBeanHasToBeNamed() {
    DataSourceTransactionManager manager =
        new DataSourceTransactionManager(shop.context().getBean("billing", DataSource.class));
    TransactionTemplate transaction = new TransactionTemplate(manager);
    transaction.executeWithoutResult(
        status ->
            assertThatThrownBy(() -> append("bill-6"))
                .isInstanceOf(NoTransactionException.class)
                .hasMessageContaining("SpringTransaction.listenTo"));
    SpringTransaction.listenTo(manager);
    SpringTransaction.listenTo(manager);
    assertThat(manager.getTransactionExecutionListeners()).hasSize(1);
    transaction.executeWithoutResult(status -> append("bill-7"));
    awaitDelivered("Billed bill-7");
  }

  /** Whoever asks it has the connection of the thread's transaction. */
  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class Aware {
    @Bean
    DataSource orders(Environment environment) {
      return new TransactionAwareDataSourceProxy(pool("orders", environment, 3));
    }
  }

  @Test
  void aStoreCommitsNoTransactionButItsOwn(Servers servers) throws SQLException {
    try (Application aware =
        Application.start(
            servers.schema(),
            List.of(Aware.class),
            Application.WITHOUT_JPA,
            "--outbox.relay.enabled=false",
            "--outbox.inbox.enabled=true")) {
      InboxKey key = new InboxKey("shipping", "m-1");
      Application.rollBack(
          aware.transaction(),
          () -> {
            aware.append(Application.message("bill-8", "Billed"));
            assertThat(aware.bean(InboxStore.class).begin(key, Patience.LIMIT))
                .isInstanceOf(Begin.Started.class);
          });
      assertThat(aware.messages()).isZero();
    }
  }
}
