package dev.outbox.spring;

import static dev.outbox.spring.Application.commit;
import static dev.outbox.spring.Application.rollBack;
import static dev.outbox.spring.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Appended;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.KeepingStore;
import dev.outbox.spi.store.KeepingStore.Uncommitted.Committed;
import dev.outbox.spring.shop.ShopApplication;
import dev.outbox.store.postgres.PostgresOutboxStore;
import dev.outbox.testing.RecordingPublisher;
import java.lang.ref.WeakReference;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** Which commits the relay is told of, and that it takes what was appended then. */
@ExtendWith(Servers.Resolver.class)
class HandOverTest {
  private static final String NO_METRICS =
      "--outbox.metrics.enabled=false"; // the store counts nothing

  private static Application withoutJpa(Servers servers, Class<?>... sources) throws SQLException {
    return Application.start(
        servers.schema(), List.of(sources), Application.WITHOUT_JPA, NO_METRICS);
  }

  /** Another database, whose transactions are none of the outbox's. */
  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class App extends DataSourcesTest.Pools {
    @Bean
    @OutboxDataSource
    HikariDataSource billing(Environment environment) {
      return DataSourcesTest.pool("billing", environment, 6);
    }

    @Bean
    Told store(@OutboxDataSource DataSource billing) {
      return new Told(billing);
    }
  }

  /** Its transactions take a connection when they need one. */
  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class Lazy extends DataSourcesTest.Pools {
    @Bean
    @OutboxDataSource
    DataSource billing(Environment environment) {
      return new LazyConnectionDataSourceProxy(DataSourcesTest.pool("billing", environment, 6));
    }

    @Bean
    Told store(@OutboxDataSource DataSource billing) {
      return new Told(billing);
    }
  }

  /** With the JPA of the shop. */
  @Configuration(proxyBeanMethods = false)
  static class Shop {
    @Bean
    Told store(DataSource dataSource) {
      return new Told(dataSource);
    }
  }

  /** Notes the commits that a store is told of. */
  static final class Told implements KeepingStore<Connection> {
    private final PostgresOutboxStore store;
    private final List<String> commits = new CopyOnWriteArrayList<>();
    private final List<String> handedOver = new CopyOnWriteArrayList<>();

    Told(DataSource dataSource) {
      store = PostgresOutboxStore.of(dataSource);
      store.migrate();
    }

    @Override
    public Appended append(Connection transaction, List<OutboxMessage> messages) {
      return store.append(transaction, messages);
    }

    @Override
    public boolean handsOver() {
      return true;
    }

    @Override
    public boolean canCommit(Connection transaction) {
      return store.canCommit(transaction);
    }

    @Override
    public Uncommitted append(Keeper keeper, Connection transaction, List<OutboxMessage> messages) {
      Uncommitted uncommitted = store.append(keeper, transaction, messages);
      List<String> types = messages.stream().map(OutboxMessage::eventType).toList();
      return Uncommitted.of(
          uncommitted.appended(),
          () -> {
            commits.addAll(types);
            Committed committed = uncommitted.committed();
            if (committed == Committed.HANDED_OVER) {
              handedOver.addAll(types);
            }
            return committed;
          });
    }

    @Override
    public Claim claim(Claim.Request request) {
      return store.claim(request);
    }

    @Override
    public Keeper keeper(Duration unclaimed) {
      return store.keeper(unclaimed);
    }
  }

  @AutoClose private static Application app;

  @BeforeAll
  static void start(Servers servers) throws SQLException {
    app = withoutJpa(servers, App.class);
  }

  @BeforeEach
  void forget() {
    forget(app);
  }

  private static void forget(Application app) {
    app.bean(RecordingPublisher.class).clear();
    app.bean(Told.class).commits.clear();
    app.bean(Told.class).handedOver.clear();
  }

  private static TransactionTemplate orders() {
    return app.transaction("ordersTransactions");
  }

  private static TransactionTemplate billing() {
    return app.transaction("billingTransactions");
  }

  private static TransactionTemplate billing(int propagation) {
    TransactionTemplate template = billing();
    template.setPropagationBehavior(propagation);
    return template;
  }

  private static void append(String eventType) {
    append(app, eventType);
  }

  private static void append(Application app, String eventType) {
    app.append(Application.message(eventType, eventType));
  }

  private static List<String> commits() {
    return app.bean(Told.class).commits;
  }

  /** In any order: they are of different keys. */
  private static void awaitDelivered(String... eventTypes) {
    await()
        .untilAsserted(
            () ->
                assertThat(app.delivered())
                    .containsExactlyInAnyOrderElementsOf(
                        Stream.of(eventTypes).map(type -> type + " " + type).toList()));
  }

  /** The first of a key finds nothing kept; one of the next is alone in what is kept. */
  private static void awaitHandedOver(Application app, Runnable commit) {
    await()
        .until(
            () -> {
              int delivered = app.delivered().size();
              commit.run();
              await().until(() -> app.delivered().size() > delivered);
              return !app.bean(Told.class).handedOver.isEmpty();
            });
  }

  @Test
  void whatIsCommittedIsHandedOver() {
    awaitHandedOver(app, () -> commit(billing(), () -> append("Billed")));
    assertThat(app.delivered())
        .hasSameSizeAs(commits())
        .allMatch(message -> message.equals("Billed Billed"));
  }

  /** Its connection is behind a proxy. */
  @Test
  void soIsWhatATransactionWithATimeoutCommits() {
    TransactionTemplate timed = billing();
    timed.setTimeout(60);
    awaitHandedOver(app, () -> commit(timed, () -> append("Billed")));
  }

  @ParameterizedTest
  @ValueSource(ints = {TransactionDefinition.TIMEOUT_DEFAULT, 60})
  void soIsWhatALazyConnectionCommits(int timeout, Servers servers) throws SQLException {
    try (Application lazy = withoutJpa(servers, Lazy.class)) {
      TransactionTemplate billing = lazy.transaction("billingTransactions");
      billing.setTimeout(timeout);
      awaitHandedOver(lazy, () -> commit(billing, () -> append(lazy, "Billed")));
    }
  }

  @Test
  void inTheOrderOfTheAppendsAndNotBeforeTheCommit() {
    commit(
        billing(),
        () -> {
          append("First");
          commit(billing(), () -> append("Second"));
          append("Third");
          assertThat(commits()).isEmpty();
        });
    assertThat(commits()).containsExactly("First", "Second", "Third");
    awaitDelivered("First", "Second", "Third");
  }

  @Test
  void whatIsRolledBackIsNot() {
    rollBack(billing(), () -> append("RolledBack"));
    commit(billing(), () -> append("Committed"));
    assertThat(commits()).containsExactly("Committed");
    awaitDelivered("Committed");
  }

  @Test
  void eachOfTwoTransactionsHasItsOwnCommit() {
    TransactionTemplate requiresNew = billing(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
    rollBack(
        billing(),
        () -> {
          append("OuterRolledBack");
          commit(requiresNew, () -> append("InnerCommitted"));
          assertThat(commits()).containsExactly("InnerCommitted");
        });
    commit(
        billing(),
        () -> {
          append("OuterCommitted");
          rollBack(requiresNew, () -> append("InnerRolledBack"));
          assertThat(commits()).containsExactly("InnerCommitted");
        });
    assertThat(commits()).containsExactly("InnerCommitted", "OuterCommitted");
    awaitDelivered("InnerCommitted", "OuterCommitted");
  }

  /** The savepoint has no moment of its own; the store never hands over what is after one. */
  @Test
  void whatIsRolledBackToASavepointIsNot() {
    commit(
        billing(),
        () -> {
          append("Before");
          rollBack(billing(TransactionDefinition.PROPAGATION_NESTED), () -> append("Nested"));
          append("After");
        });
    awaitDelivered("Before", "After");
    assertThat(app.bean(Told.class).handedOver).doesNotContain("Nested");
  }

  /** PostgreSQL carries out a ROLLBACK, and its driver tells Spring of no error. */
  @Test
  void whatAStatementThatFailedTakesBackAtTheCommitIsNot() {
    awaitHandedOver(app, () -> commit(billing(), () -> append("Billed")));
    forget();
    JdbcTemplate jdbc = new JdbcTemplate(app.context().getBean("billing", DataSource.class));
    for (int i = 0; i < 10; i++) {
      commit(
          billing(),
          () -> {
            append("RolledBack");
            assertThatThrownBy(() -> jdbc.execute("select 1 / 0"))
                .isInstanceOf(DataIntegrityViolationException.class);
          });
    }
    assertThat(commits()).isEmpty();
    commit(billing(), () -> append("Committed"));
    awaitDelivered("Committed");
  }

  /** The append joins the outer one, and Spring calls after the commit of the inner one. */
  @Test
  void aCommitInsideTheOutboxsTransactionIsNotIts() {
    rollBack(billing(), () -> commit(orders(), () -> append("OuterRolledBack")));
    commit(billing(), () -> commit(orders(), () -> append("OuterCommitted")));
    assertThat(commits()).isEmpty();
    awaitDelivered("OuterCommitted");
  }

  @Test
  void aCommitInsideAnothersTransactionIsItsOwn() {
    commit(orders(), () -> commit(billing(), () -> append("InnerCommitted")));
    assertThat(commits()).containsExactly("InnerCommitted");
    awaitDelivered("InnerCommitted");
  }

  /** The outer one is the outbox's, and the other is gone when it commits. */
  @Test
  void anotherManagersTransactionInsideIsNoHindrance() {
    commit(
        billing(),
        () -> {
          append("OuterCommitted");
          rollBack(orders(), () -> {});
        });
    assertThat(commits()).containsExactly("OuterCommitted");
    awaitDelivered("OuterCommitted");
  }

  /** A context that is stopped and started has another relay. */
  @Test
  void theRelayOfTheNextStartIsTold() {
    OutboxRelay relay = app.bean(OutboxRelay.class);
    relay.stop();
    commit(billing(), () -> append("WhileItIsStopped"));
    assertThat(app.bean(Told.class).handedOver).isEmpty();
    relay.start();
    awaitDelivered("WhileItIsStopped");
    awaitHandedOver(app, () -> commit(billing(), () -> append("Billed")));
  }

  @Test
  void transactionsOfJpaHandOver(Servers servers) throws SQLException {
    try (Application shop =
        Application.start(
            servers.schema(), List.of(ShopApplication.class, Shop.class), NO_METRICS)) {
      shop.shop().place("order-1");
      awaitHandedOver(shop, () -> shop.shop().pay("order-1"));
      forget(shop);
      assertThatThrownBy(() -> shop.shop().placeAndFail("order-2")).hasMessage("out of stock");
      assertThat(shop.bean(Told.class).commits).isEmpty();
    }
  }

  /** As JTA's; whoever wants it names it. */
  @Configuration(proxyBeanMethods = false)
  static class Unseen {
    @Bean(defaultCandidate = false)
    PlatformTransactionManager bindsNothing() {
      return new Others();
    }
  }

  @Test
  void aManagerThatBindsNothingIsAnotherToo(Servers servers) throws SQLException {
    try (Application unseen = withoutJpa(servers, App.class, Unseen.class)) {
      TransactionTemplate billing = unseen.transaction("billingTransactions");
      TransactionTemplate other = unseen.transaction("bindsNothing");
      rollBack(billing, () -> commit(other, () -> append(unseen, "OuterRolledBack")));
      commit(billing, () -> commit(other, () -> append(unseen, "OuterCommitted")));
      assertThat(unseen.bean(Told.class).commits).isEmpty();
      commit(other, () -> commit(billing, () -> append(unseen, "InnerCommitted")));
      assertThat(unseen.bean(Told.class).commits).containsExactly("InnerCommitted");
      await().until(() -> unseen.delivered().size() == 2);
      assertThat(unseen.delivered())
          .containsExactlyInAnyOrder(
              "OuterCommitted OuterCommitted", "InnerCommitted InnerCommitted");
    }
  }

  /** Or a long transaction would need memory for all that it appends. */
  @Test
  void noPayloadIsKeptUntilTheCommit() {
    rollBack(
        billing(),
        () -> {
          WeakReference<OutboxMessage> appended = appendLarge();
          await()
              .until(
                  () -> {
                    System.gc();
                    return appended.refersTo(null);
                  });
        });
  }

  /** Larger than what is handed over. */
  private static WeakReference<OutboxMessage> appendLarge() {
    OutboxMessage message =
        Application.message("Billed", "Billed").toBuilder().payload(new byte[1 << 17]).build();
    app.append(message);
    return new WeakReference<>(message);
  }
}
