package dev.outbox.example.readme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.arjuna.ats.internal.jta.transaction.arjunacore.TransactionSynchronizationRegistryImple;
import dev.outbox.JoinedOutbox;
import dev.outbox.NoTransactionException;
import dev.outbox.OutboxMessage;
import dev.outbox.jakarta.JakartaOutbox;
import dev.outbox.relay.Relay;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.spring.SpringTransaction;
import dev.outbox.store.postgres.PostgresOutboxStore;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.testing.RelayOnce;
import io.agroal.api.AgroalDataSource;
import jakarta.transaction.TransactionManager;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.sql.Connection;
import java.sql.Statement;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** An outbox that joins the transaction of a library. */
class JoiningTest {
  static {
    System.setProperty("org.jooq.no-logo", "true");
    System.setProperty("org.jooq.no-tips", "true");
  }

  private static final String ORDER = "order-1";
  private final Shop shop = new Shop();
  private final PostgresOutboxStore outbox = PostgresOutboxStore.of(shop.dataSource);
  private final OutboxMessage message = Shop.paid(ORDER);

  @BeforeEach
  void placeOrder() {
    outbox.migrate();
    Jdbi.create(shop.dataSource)
        .useHandle(handle -> handle.execute("insert into orders values (?, 'PLACED')", ORDER));
  }

  @AfterEach
  void close() throws Exception {
    shop.close();
  }

  @Test
  void jdbi() {
    Jdbi jdbi = Jdbi.create(shop.dataSource);
    // tag::jdbi
    jdbi.useTransaction(
        handle -> {
          JoinedOutbox joined = outbox.joining(append -> append.apply(handle.getConnection()));
          handle.execute("update orders set state = 'PAID' where id = ?", ORDER);
          joined.append(message);
        });
    // end::jdbi
    assertPaidAndSent();
    assertThatThrownBy(
            () ->
                jdbi.useHandle(
                    handle ->
                        outbox
                            .joining(append -> append.apply(handle.getConnection()))
                            .append(message)))
        .isInstanceOf(NoTransactionException.class);
  }

  @Test
  void jooq() {
    DSLContext dsl = DSL.using(shop.dataSource, SQLDialect.POSTGRES);
    // tag::jooq
    dsl.transaction(
        tx -> {
          JoinedOutbox joined = outbox.joining(append -> tx.dsl().connectionResult(append::apply));
          tx.dsl().execute("update orders set state = 'PAID' where id = ?", ORDER);
          joined.append(message);
        });
    // end::jooq
    assertPaidAndSent();
    assertThatThrownBy(
            () ->
                outbox
                    .joining(append -> dsl.connectionResult(append::apply))
                    .append(Shop.paid(ORDER)))
        .hasStackTraceContaining("NoTransactionException");
  }

  @Test
  void spring() {
    DataSource dataSource = shop.dataSource;
    JdbcTemplate jdbc = new JdbcTemplate(dataSource);
    DataSourceTransactionManager manager = new DataSourceTransactionManager(dataSource);
    TransactionTemplate transaction = new TransactionTemplate(manager);
    // tag::spring
    JoinedOutbox joined = outbox.joining(SpringTransaction.of(dataSource, manager));

    transaction.executeWithoutResult(
        status -> {
          jdbc.update("update orders set state = 'PAID' where id = ?", ORDER);
          joined.append(message);
        });
    // end::spring
    assertPaidAndSent();
    assertThatThrownBy(() -> joined.append(Shop.paid(ORDER)))
        .isInstanceOf(NoTransactionException.class);
    transaction.executeWithoutResult(
        status -> {
          joined.append(Shop.paid(ORDER));
          status.setRollbackOnly();
        });
    assertThat(RelayOnce.run(outbox, new RecordingPublisher()).delivered()).isEmpty();
  }

  @Test
  void jakarta() throws Exception {
    TransactionManager manager = com.arjuna.ats.jta.TransactionManager.transactionManager();
    TransactionSynchronizationRegistry transactions = new TransactionSynchronizationRegistryImple();
    Relay relay = Relay.builder(outbox, new RecordingPublisher()).build();
    try (AgroalDataSource dataSource = shop.agroal(manager, transactions)) {
      // tag::jakarta
      JoinedOutbox joined =
          JakartaOutbox.of(outbox, dataSource, transactions).withWake(relay::wake);
      // end::jakarta
      manager.begin();
      try (Connection connection = dataSource.getConnection();
          Statement update = connection.createStatement()) {
        update.executeUpdate("update orders set state = 'PAID' where id = '%s'".formatted(ORDER));
      }
      joined.append(message);
      manager.commit();
      assertThatThrownBy(() -> joined.append(Shop.paid(ORDER)))
          .isInstanceOf(NoTransactionException.class);
    }
    relay.close();
    assertPaidAndSent();
  }

  private void assertPaidAndSent() {
    assertThat(shop.state(ORDER)).isEqualTo("PAID");
    assertThat(RelayOnce.run(outbox, new RecordingPublisher()).delivered())
        .extracting(StoredMessage::message)
        .containsExactly(message);
  }
}
