package dev.outbox.spring.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.JoinedOutbox;
import dev.outbox.OutboxMessage;
import dev.outbox.spring.Application;
import dev.outbox.spring.Servers;
import dev.outbox.spring.Servers.Schema;
import dev.outbox.spring.SpringTransaction;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.postgresql.Driver;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Transactions in transactions, by JDBC: JPA has no savepoints. */
@ExtendWith(Servers.Resolver.class)
class SpringTransactionsTest {
  private final SpringTransactions transactions = new SpringTransactions();
  private TransactionTemplate outer;
  private TransactionTemplate inner;
  private JoinedOutbox outbox;

  @BeforeEach
  void connect(Servers servers) throws SQLException {
    Schema schema = servers.schema();
    SimpleDriverDataSource dataSource =
        new SimpleDriverDataSource(new Driver(), schema.url(), schema.user(), schema.password());
    DataSourceTransactionManager manager = new DataSourceTransactionManager(dataSource);
    outer = new TransactionTemplate(manager);
    inner = new TransactionTemplate(manager);
    SpringTransaction current = SpringTransaction.of(dataSource, manager);
    outbox =
        messages ->
            current.with(
                (Connection connection) ->
                    new RecordingStore(transactions).append(connection, messages));
  }

  private void append(String event) {
    outbox.append(Application.message("1", event));
  }

  private List<String> seen() {
    return transactions.outbox().messages().stream().map(OutboxMessage::eventType).toList();
  }

  @Test
  void aTransactionOfItsOwnCommitsAlone() {
    inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
    outer.executeWithoutResult(
        status -> {
          append("outer");
          inner.executeWithoutResult(
              other -> {
                append("inner");
                assertThat(seen()).containsExactly("inner");
              });
          assertThat(seen()).containsExactly("outer", "inner");
          status.setRollbackOnly();
        });
    assertThat(seen()).containsExactly("inner");
  }

  /** The first is older than any message. */
  @Test
  void aSavepointTakesBackWhatCameAfterIt() {
    inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
    outer.executeWithoutResult(
        status -> {
          inner.executeWithoutResult(this::appendAndTakeBack);
          append("before");
          inner.executeWithoutResult(this::appendAndTakeBack);
          inner.executeWithoutResult(nested -> append("kept"));
        });
    assertThat(seen()).containsExactly("before", "kept");
  }

  private void appendAndTakeBack(TransactionStatus nested) {
    append("taken back");
    nested.setRollbackOnly();
  }

  @Test
  void whoIsToldOfTheCommitFindsTheMessages() {
    outer.executeWithoutResult(
        status -> {
          TransactionSynchronizationManager.registerSynchronization(
              new TransactionSynchronization() {
                @Override
                public void afterCommit() {
                  assertThat(seen()).containsExactly("a");
                }
              });
          append("a");
        });
    assertThat(seen()).containsExactly("a");
  }

  @Test
  void severalAppendsAreOneTransaction() {
    outer.executeWithoutResult(
        status -> {
          append("a");
          append("b");
          assertThat(TransactionSynchronizationManager.getSynchronizations())
              .filteredOn(SpringTransactions.Joined.class::isInstance)
              .hasSize(1);
        });
    assertThat(seen()).containsExactly("a", "b");
  }
}
