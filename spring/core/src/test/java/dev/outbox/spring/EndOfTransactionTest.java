package dev.outbox.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.spring.EndOfTransaction.In;
import dev.outbox.spring.EndOfTransaction.Phase;
import dev.outbox.spring.shop.ShopApplication;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.EntityTransaction;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.EntityManagerFactoryUtils;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** What is called around the end of a transaction: whether it may still append. */
@ExtendWith(Servers.Resolver.class)
class EndOfTransactionTest {
  /** Of the pool's connections. */
  enum AutoCommit {
    ON,
    OFF
  }

  static class App {
    @Bean
    @Primary
    JpaTransactionManager jpa(EntityManagerFactory entities) {
      return new JpaTransactionManager(entities);
    }

    @Bean
    JdbcTransactionManager jdbc(DataSource dataSource) {
      return new JdbcTransactionManager(dataSource);
    }
  }

  private static final Map<AutoCommit, Application> SHOPS = new EnumMap<>(AutoCommit.class);

  @BeforeAll
  static void start(Servers servers) throws SQLException {
    for (AutoCommit autoCommit : AutoCommit.values()) {
      SHOPS.put(
          autoCommit,
          Application.start(
              servers.schema(),
              List.of(ShopApplication.class, App.class),
              "--outbox.relay.enabled=false",
              "--outbox.inbox.enabled=true",
              "--spring.datasource.hikari.auto-commit=" + (autoCommit == AutoCommit.ON)));
    }
  }

  @AfterAll
  static void stop() {
    SHOPS.values().forEach(Application::close);
  }

  static Stream<Arguments> cases() {
    return Stream.of(AutoCommit.values())
        .flatMap(
            autoCommit ->
                Stream.of("jpa", "jdbc")
                    .flatMap(
                        manager ->
                            EndOfTransaction.cases()
                                .map(of -> of.get())
                                .map(of -> Arguments.of(autoCommit, manager, of[0], of[1]))));
  }

  /** As each statement of Spring's: the first message with the same dedup key is not committed. */
  @ParameterizedTest
  @ValueSource(strings = {"jpa", "jdbc"})
  void anAppendWaitsNoLongerThanItsTransactionMay(String manager) {
    Application shop = SHOPS.get(AutoCommit.ON);
    OutboxMessage message =
        Application.message("order-1", "OrderPlaced").toBuilder().dedupKey(manager).build();
    TransactionTemplate inner = shop.transaction(manager);
    inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
    inner.setTimeout(1);
    Application.rollBack(
        shop.transaction(manager),
        () -> {
          shop.append(message);
          assertThatThrownBy(
                  () ->
                      Application.commit(
                          inner,
                          () -> {
                            shop.jdbc().execute("set local lock_timeout = '20s'"); // or never
                            shop.append(message);
                          }))
              .isInstanceOf(TransientOutboxException.class)
              .rootCause()
              .hasFieldOrPropertyWithValue("SQLState", "57014"); // query_canceled
        });
  }

  @ParameterizedTest
  @MethodSource("cases")
  void whatIsTakenIsCommitted(AutoCommit autoCommit, String manager, Phase phase, In in) {
    Application shop = SHOPS.get(autoCommit);
    String id = UUID.randomUUID().toString();
    int expected = end(shop, manager).takes(phase, in, id) ? 1 : 0;
    assertThat(messages(shop, id)).isEqualTo(expected);
    assertThat(handled(shop, id)).isEqualTo(expected);
  }

  @Test
  void aGarbageCollectionForgetsNoTransaction() {
    Application shop = SHOPS.get(AutoCommit.ON);
    String id = UUID.randomUUID().toString();
    Application.commit(
        shop.transaction("jdbc"),
        () -> {
          System.gc();
          shop.append(Application.message(id, "OrderPlaced"));
        });
    assertThat(messages(shop, id)).isOne();
  }

  /** Hibernate has callbacks of its own, between its commit and what Spring calls. */
  @ParameterizedTest
  @EnumSource
  void whatHibernateCallsAfterTheCommit(AutoCommit autoCommit) {
    Application shop = SHOPS.get(autoCommit);
    String id = UUID.randomUUID().toString();
    List<Object> done = new ArrayList<>();
    shop.transaction("jpa")
        .executeWithoutResult(
            status ->
                afterCompletionOfHibernate(
                    EntityManagerFactoryUtils.getTransactionalEntityManager(
                            shop.bean(EntityManagerFactory.class))
                        .getTransaction(),
                    () -> end(shop, "jpa").write(id, done)));
    EndOfTransaction.assertRefused(done);
    assertThat(messages(shop, id)).isZero();
    assertThat(handled(shop, id)).isZero();
  }

  /** Its types are not there when this is compiled. */
  private static void afterCompletionOfHibernate(EntityTransaction transaction, Runnable called) {
    try {
      Class<?> type = Class.forName("jakarta.transaction.Synchronization");
      Object synchronization =
          Proxy.newProxyInstance(
              type.getClassLoader(),
              new Class<?>[] {type},
              (proxy, method, arguments) -> {
                if (method.getDeclaringClass() == Object.class) {
                  return method.invoke(called, arguments);
                }
                if (method.getName().equals("afterCompletion")) {
                  called.run();
                }
                return null;
              });
      transaction
          .getClass()
          .getMethod("registerSynchronization", type)
          .invoke(transaction, synchronization);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static EndOfTransaction end(Application shop, String manager) {
    return new EndOfTransaction(
        shop,
        () -> shop.transaction(manager),
        id -> shop.jdbc().update("insert into orders (id, state) values (?, 'NEW')", id));
  }

  private static int messages(Application shop, String id) {
    return shop.jdbc()
        .queryForList("select 1 from outbox_message where aggregate_id = ?", id)
        .size();
  }

  private static int handled(Application shop, String id) {
    return shop.jdbc().queryForList("select 1 from inbox_message where message_id = ?", id).size();
  }
}
