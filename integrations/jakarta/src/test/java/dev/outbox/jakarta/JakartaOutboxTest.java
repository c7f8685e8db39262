package dev.outbox.jakarta;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.arjuna.ats.internal.jta.transaction.arjunacore.TransactionSynchronizationRegistryImple;
import dev.outbox.NoTransactionException;
import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.postgres.PostgresOutboxStore;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.testing.RelayOnce;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import io.agroal.api.security.NamePrincipal;
import io.agroal.api.security.SimplePassword;
import io.agroal.narayana.NarayanaTransactionIntegration;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceConfiguration;
import jakarta.persistence.PersistenceUnitTransactionType;
import jakarta.persistence.Table;
import jakarta.transaction.Synchronization;
import jakarta.transaction.TransactionManager;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.hibernate.engine.transaction.jta.platform.internal.NarayanaJtaPlatform;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** On Agroal's pool and Narayana's transactions, as Quarkus and WildFly have them. */
@DisplayName("An append in a transaction of Jakarta EE")
class JakartaOutboxTest {
  private static final String SCHEMA =
      "outbox_jakarta_" + UUID.randomUUID().toString().substring(0, 8);

  private static DatabaseServer server;
  private static TransactionManager transactions;
  private static TransactionSynchronizationRegistry registry;
  private static AgroalDataSource dataSource;
  private static PostgresOutboxStore store;

  private final AtomicInteger woken = new AtomicInteger();
  private final JakartaOutbox outbox =
      JakartaOutbox.of(store, dataSource, registry).withWake(woken::incrementAndGet);

  @BeforeAll
  static void start() throws SQLException {
    server = DatabaseServer.postgres();
    transactions = com.arjuna.ats.jta.TransactionManager.transactionManager();
    registry = new TransactionSynchronizationRegistryImple();
    dataSource = pool();
    execute("create schema " + SCHEMA);
    execute("create table orders (id text primary key, state text not null)");
    store = PostgresOutboxStore.of(dataSource);
    store.migrate();
  }

  private static AgroalDataSource pool() throws SQLException {
    return AgroalDataSource.from(
        new AgroalDataSourceConfigurationSupplier()
            .connectionPoolConfiguration(
                pool ->
                    pool.maxSize(5)
                        .transactionIntegration(
                            new NarayanaTransactionIntegration(transactions, registry))
                        .connectionFactoryConfiguration(
                            factory ->
                                factory
                                    .jdbcUrl(server.jdbcUrl())
                                    .principal(new NamePrincipal(server.user()))
                                    .credential(new SimplePassword(server.password()))
                                    .initialSql("set search_path to " + SCHEMA))));
  }

  @AfterAll
  static void close() throws SQLException {
    execute("drop schema " + SCHEMA + " cascade");
    dataSource.close();
    server.close();
  }

  @BeforeEach
  void placeOrder() throws SQLException {
    execute("delete from orders");
    execute("insert into orders values ('order-1', 'PLACED')");
  }

  @AfterEach
  void endTransaction() throws Exception {
    if (transactions.getTransaction() != null) {
      transactions.rollback();
    }
    delivered();
  }

  private static void execute(String sql) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static String state() throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("select state from orders")) {
      row.next();
      return row.getString(1);
    }
  }

  private static OutboxMessage paid() {
    return OutboxMessage.builder()
        .aggregate("order", "order-1")
        .eventType("OrderPaid")
        .payload("{}")
        .build();
  }

  /** By a relay on the same pool. */
  private static List<OutboxMessage> delivered() {
    return RelayOnce.run(store, new RecordingPublisher()).delivered().stream()
        .map(StoredMessage::message)
        .toList();
  }

  @Test
  @DisplayName("is there with the change after the commit, and wakes the relay once, then")
  void commit() throws Exception {
    OutboxMessage one = paid();
    OutboxMessage other = paid();
    transactions.begin();
    execute("update orders set state = 'PAID'");
    assertThat(outbox.append(one).allStored()).isTrue();
    outbox.append(List.of(other));
    assertThat(woken).hasValue(0);
    transactions.commit();
    assertThat(woken).hasValue(1);
    assertThat(state()).isEqualTo("PAID");
    assertThat(delivered()).containsExactly(one, other);
  }

  @Test
  @DisplayName("is gone with the change after a rollback, and wakes nobody")
  void rollback() throws Exception {
    transactions.begin();
    execute("update orders set state = 'PAID'");
    outbox.append(paid());
    transactions.rollback();
    assertThat(woken).hasValue(0);
    assertThat(state()).isEqualTo("PLACED");
    assertThat(delivered()).isEmpty();
  }

  @Test
  @DisplayName("is refused without a transaction, and in one that can only be rolled back")
  void noTransaction() throws Exception {
    assertThatThrownBy(() -> outbox.append(paid()))
        .isInstanceOf(NoTransactionException.class)
        .hasMessageContaining("no transaction is active");
    transactions.begin();
    transactions.setRollbackOnly();
    assertThatThrownBy(() -> outbox.append(paid()))
        .isInstanceOf(NoTransactionException.class)
        .hasMessageContaining("marked for rollback");
    transactions.rollback();
    assertThat(delivered()).isEmpty();
  }

  @Test
  @DisplayName("is refused after the end of a transaction, in what is called then")
  void afterCompletion() throws Exception {
    for (boolean commit : new boolean[] {true, false}) {
      List<Throwable> refused = new ArrayList<>();
      Synchronization appending =
          new Synchronization() {
            @Override
            public void beforeCompletion() {}

            @Override
            public void afterCompletion(int status) {
              refused.add(catchThrowable(() -> outbox.append(paid())));
            }
          };
      transactions.begin();
      execute("update orders set state = 'PAID'");
      transactions.getTransaction().registerSynchronization(appending);
      registry.registerInterposedSynchronization(appending);
      if (commit) {
        transactions.commit();
      } else {
        transactions.rollback();
      }
      assertThat(refused)
          .hasSize(2)
          .allSatisfy(
              e ->
                  assertThat(e)
                      .isInstanceOf(NoTransactionException.class)
                      .hasMessageContaining("AFTER_SUCCESS")
                      .hasMessageContaining("REQUIRES_NEW"));
      assertThat(delivered()).isEmpty();
    }
  }

  @Test
  @DisplayName("is refused on a DataSource that no transaction manager enlists")
  void notEnlisted() throws Exception {
    PGSimpleDataSource plain = new PGSimpleDataSource();
    plain.setUrl(server.jdbcUrl());
    plain.setUser(server.user());
    plain.setPassword(server.password());
    plain.setCurrentSchema(SCHEMA);
    transactions.begin();
    assertThatThrownBy(() -> JakartaOutbox.of(store, plain, registry).append(paid()))
        .isInstanceOf(NoTransactionException.class)
        .hasMessageContaining("commits by itself")
        .hasMessageContaining("enlists");
    transactions.commit();
    assertThat(delivered()).isEmpty();
  }

  @Test
  @DisplayName("has an enlisted connection: it reports that it does not commit by itself")
  void enlisted() throws Exception {
    try (Connection outside = dataSource.getConnection()) {
      assertThat(outside.getAutoCommit()).isTrue();
    }
    transactions.begin();
    try (Connection inside = dataSource.getConnection()) {
      assertThat(inside.getAutoCommit()).isFalse();
    }
  }

  @Test
  @DisplayName("says when the DataSource gives no connection")
  void noConnection() throws Exception {
    AgroalDataSource closed = pool();
    closed.close();
    transactions.begin();
    assertThatThrownBy(() -> JakartaOutbox.of(store, closed, registry).append(paid()))
        .isInstanceOf(TransientOutboxException.class)
        .hasMessageContaining("the DataSource gave no connection")
        .hasCauseInstanceOf(SQLException.class);
  }

  @Entity
  @Table(name = "orders")
  static class Order {
    @Id String id;
    String state;
  }

  @Test
  @DisplayName("comes after what JPA has changed, when it is told to flush")
  void flush() throws Exception {
    try (EntityManagerFactory factory =
        new PersistenceConfiguration("shop")
            .managedClass(Order.class)
            .transactionType(PersistenceUnitTransactionType.JTA)
            .property("jakarta.persistence.jtaDataSource", dataSource)
            .property("hibernate.transaction.jta.platform", new NarayanaJtaPlatform())
            .createEntityManagerFactory()) {
      for (boolean flushing : new boolean[] {false, true}) {
        transactions.begin();
        try (EntityManager manager = factory.createEntityManager()) {
          manager.find(Order.class, "order-1").state = "PAID";
          (flushing ? outbox.withFlush(manager::flush) : outbox).append(paid());
          assertThat(state())
              .as("in the database after the append, flushing: %s", flushing)
              .isEqualTo(flushing ? "PAID" : "PLACED");
          transactions.rollback();
        }
      }
    }
  }
}
