package dev.outbox.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.JoinedOutbox;
import dev.outbox.NoTransactionException;
import dev.outbox.OutboxMessage;
import dev.outbox.inbox.JoinedInbox;
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
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.core.PriorityOrdered;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.EntityManagerFactoryUtils;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** What is called around the end of a transaction: whether it may still append. */
@ExtendWith(Servers.Resolver.class)
class EndOfTransactionTest {
  /** Of the pool's connections. */
  enum AutoCommit {
    ON,
    OFF
  }

  enum Manager {
    JPA,
    JDBC
  }

  /** When it is called. */
  enum Phase {
    BEFORE_COMMIT,
    BEFORE_COMPLETION,
    AFTER_COMMIT,
    AFTER_COMPLETION,
    AFTER_ROLLBACK,
    AFTER_FAILED_COMMIT;

    boolean isBefore() {
      return this == BEFORE_COMMIT || this == BEFORE_COMPLETION;
    }
  }

  /** In which transaction it writes. */
  enum In {
    NONE(-1),
    REQUIRED(TransactionDefinition.PROPAGATION_REQUIRED),
    REQUIRES_NEW(TransactionDefinition.PROPAGATION_REQUIRES_NEW);

    final int propagation;

    In(int propagation) {
      this.propagation = propagation;
    }
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

    @Bean
    Listener listener(JoinedOutbox outbox) {
      return new Listener(outbox);
    }
  }

  record Placed(String id, List<Object> done) {}

  record PlacedBefore(String id, List<Object> done) {}

  record PlacedNew(String id, List<Object> done) {}

  /** As applications have them. */
  static class Listener {
    private final JoinedOutbox outbox;

    Listener(JoinedOutbox outbox) {
      this.outbox = outbox;
    }

    /** In the default phase. */
    @TransactionalEventListener
    public void on(Placed event) {
      append(event.id, event.done);
    }

    @TransactionalEventListener(phase = TransactionPhase.BEFORE_COMMIT)
    public void on(PlacedBefore event) {
      append(event.id, event.done);
    }

    @TransactionalEventListener
    @Transactional(propagation = Propagation.REQUIRES_NEW)
    public void on(PlacedNew event) {
      append(event.id, event.done);
    }

    /** Spring shows nobody what a listener throws after the commit. */
    private void append(String id, List<Object> done) {
      try {
        done.add(outbox.append(message(id)));
      } catch (NoTransactionException e) {
        done.add(e);
      }
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
              "--shop.recording=true",
              "--outbox.relay.enabled=false",
              "--outbox.inbox.enabled=true",
              "--spring.datasource.hikari.auto-commit=" + (autoCommit == AutoCommit.ON)));
    }
  }

  @AfterAll
  static void stop() {
    SHOPS.values().forEach(Application::close);
  }

  static Stream<Arguments> managers() {
    return Stream.of(AutoCommit.values())
        .flatMap(
            autoCommit ->
                Stream.of(Manager.values()).map(manager -> Arguments.of(autoCommit, manager)));
  }

  static Stream<Arguments> phases() {
    return managers()
        .flatMap(
            arguments ->
                Stream.of(Phase.values())
                    .flatMap(
                        phase ->
                            Stream.of(In.values())
                                .map(
                                    in ->
                                        Arguments.of(
                                            arguments.get()[0], arguments.get()[1], phase, in))));
  }

  @ParameterizedTest
  @MethodSource("phases")
  void whatIsTakenIsCommitted(AutoCommit autoCommit, Manager manager, Phase phase, In in) {
    Application shop = SHOPS.get(autoCommit);
    TransactionTemplate transaction = transaction(shop, manager);
    String id = UUID.randomUUID().toString();
    List<Object> done = new ArrayList<>();
    Runnable write =
        () -> {
          done.add(shop.bean(JoinedOutbox.class).append(message(id)));
          done.add(shop.bean(JoinedInbox.class).firstTime("shipping", id));
        };
    Runnable called =
        () -> {
          try {
            if (in == In.NONE) {
              write.run();
            } else {
              transaction(shop, manager, in.propagation)
                  .executeWithoutResult(status -> write.run());
            }
          } catch (NoTransactionException e) {
            done.add(e);
          }
        };
    Consumer<TransactionTemplate> run =
        template ->
            template.executeWithoutResult(
                status -> {
                  place(shop, id);
                  TransactionSynchronizationManager.registerSynchronization(
                      new Calling(phase, called));
                  if (phase == Phase.AFTER_ROLLBACK) {
                    status.setRollbackOnly();
                  }
                });
    if (phase == Phase.AFTER_FAILED_COMMIT) {
      assertThatThrownBy(() -> run.accept(transaction)).hasMessage("not this one");
    } else {
      run.accept(transaction);
    }
    if (phase.isBefore() || in == In.REQUIRES_NEW) {
      assertThat(done).hasSize(2);
      assertThat(messages(shop, id)).isOne();
      assertThat(handled(shop, id)).isOne();
    } else {
      assertThat(done).singleElement().satisfies(EndOfTransactionTest::isRefused);
      assertThat(messages(shop, id)).isZero();
    }
  }

  @ParameterizedTest
  @MethodSource("managers")
  void aGarbageCollectionForgetsNoTransaction(AutoCommit autoCommit, Manager manager) {
    Application shop = SHOPS.get(autoCommit);
    String id = UUID.randomUUID().toString();
    transaction(shop, manager)
        .executeWithoutResult(
            status -> {
              System.gc();
              shop.bean(JoinedOutbox.class).append(message(id));
            });
    assertThat(messages(shop, id)).isOne();
  }

  /** The inbox alone: above the outbox refuses before it is asked. */
  @ParameterizedTest
  @MethodSource("managers")
  void theInboxTakesNothingAfterTheCommit(AutoCommit autoCommit, Manager manager) {
    Application shop = SHOPS.get(autoCommit);
    String id = UUID.randomUUID().toString();
    List<Object> done = new ArrayList<>();
    transaction(shop, manager)
        .executeWithoutResult(
            status ->
                TransactionSynchronizationManager.registerSynchronization(
                    new Calling(
                        Phase.AFTER_COMMIT,
                        () -> {
                          try {
                            done.add(shop.bean(JoinedInbox.class).firstTime("shipping", id));
                          } catch (NoTransactionException e) {
                            done.add(e);
                          }
                        })));
    assertThat(done).singleElement().satisfies(EndOfTransactionTest::isRefused);
    assertThat(handled(shop, id)).isZero();
  }

  /** Hibernate has callbacks of its own, between its commit and what Spring calls. */
  @ParameterizedTest
  @EnumSource
  void whatHibernateCallsAfterTheCommit(AutoCommit autoCommit) {
    Application shop = SHOPS.get(autoCommit);
    String id = UUID.randomUUID().toString();
    List<Object> done = new ArrayList<>();
    transaction(shop, Manager.JPA)
        .executeWithoutResult(
            status ->
                afterCompletionOfHibernate(
                    EntityManagerFactoryUtils.getTransactionalEntityManager(
                            shop.bean(EntityManagerFactory.class))
                        .getTransaction(),
                    () -> {
                      try {
                        done.add(shop.bean(JoinedOutbox.class).append(message(id)));
                      } catch (NoTransactionException e) {
                        done.add(e);
                      }
                    }));
    assertThat(done).singleElement().satisfies(EndOfTransactionTest::isRefused);
    assertThat(messages(shop, id)).isZero();
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

  @ParameterizedTest
  @MethodSource("managers")
  void listenersOfEvents(AutoCommit autoCommit, Manager manager) {
    Application shop = SHOPS.get(autoCommit);
    List<Object> refused = new ArrayList<>();
    List<Object> taken = new ArrayList<>();
    String id = UUID.randomUUID().toString();
    transaction(shop, manager)
        .executeWithoutResult(
            status -> {
              place(shop, id);
              shop.context().publishEvent(new Placed(id, refused));
              shop.context().publishEvent(new PlacedBefore(id, taken));
            });
    assertThat(refused).singleElement().satisfies(EndOfTransactionTest::isRefused);
    assertThat(taken).hasSize(1);
    assertThat(messages(shop, id)).isOne();
  }

  /** The annotation means JPA's, which does not begin inside one of JDBC. */
  @ParameterizedTest
  @EnumSource
  void aListenerWithATransactionOfItsOwn(AutoCommit autoCommit) {
    Application shop = SHOPS.get(autoCommit);
    List<Object> taken = new ArrayList<>();
    String id = UUID.randomUUID().toString();
    transaction(shop, Manager.JPA)
        .executeWithoutResult(status -> shop.context().publishEvent(new PlacedNew(id, taken)));
    assertThat(taken).hasSize(1);
    assertThat(messages(shop, id)).isOne();
  }

  private static void isRefused(Object outcome) {
    assertThat(outcome)
        .isInstanceOfSatisfying(
            NoTransactionException.class,
            e ->
                assertThat(e)
                    .hasMessageContaining("is over")
                    .hasMessageContaining("@TransactionalEventListener")
                    .hasMessageContaining("REQUIRES_NEW"));
  }

  private static TransactionTemplate transaction(Application shop, Manager manager) {
    return transaction(shop, manager, TransactionDefinition.PROPAGATION_REQUIRED);
  }

  private static TransactionTemplate transaction(
      Application shop, Manager manager, int propagation) {
    TransactionTemplate transaction =
        new TransactionTemplate(
            shop.context()
                .getBean(
                    manager == Manager.JPA ? "jpa" : "jdbc", PlatformTransactionManager.class));
    transaction.setPropagationBehavior(propagation);
    return transaction;
  }

  /** Some change of the business. */
  private static void place(Application shop, String id) {
    shop.jdbc().update("insert into orders (id, state) values (?, 'NEW')", id);
  }

  private static OutboxMessage message(String id) {
    return OutboxMessage.builder()
        .aggregate("order", id)
        .eventType("OrderPlaced")
        .payload("{}")
        .build();
  }

  private static int messages(Application shop, String id) {
    return count(shop, "select count(*) from outbox_message where aggregate_id = ?", id);
  }

  private static int handled(Application shop, String id) {
    return count(shop, "select count(*) from inbox_message where message_id = ?", id);
  }

  private static int count(Application shop, String query, String id) {
    return shop.jdbc().queryForObject(query, Integer.class, id);
  }

  /** Before all others that the application registers. */
  private record Calling(Phase phase, Runnable called)
      implements TransactionSynchronization, PriorityOrdered {
    @Override
    public int getOrder() {
      return HIGHEST_PRECEDENCE;
    }

    @Override
    public void beforeCommit(boolean readOnly) {
      in(Phase.BEFORE_COMMIT);
      if (phase == Phase.AFTER_FAILED_COMMIT) {
        throw new IllegalStateException("not this one");
      }
    }

    @Override
    public void beforeCompletion() {
      in(Phase.BEFORE_COMPLETION);
    }

    @Override
    public void afterCommit() {
      in(Phase.AFTER_COMMIT);
    }

    @Override
    public void afterCompletion(int status) {
      if (phase.ordinal() >= Phase.AFTER_COMPLETION.ordinal()) {
        called.run();
      }
    }

    private void in(Phase now) {
      if (phase == now) {
        called.run();
      }
    }
  }
}
