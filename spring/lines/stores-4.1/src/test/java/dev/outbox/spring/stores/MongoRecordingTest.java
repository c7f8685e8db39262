package dev.outbox.spring.stores;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.JoinedOutbox;
import dev.outbox.NoTransactionException;
import dev.outbox.embedded.TestServer;
import dev.outbox.spring.Application;
import dev.outbox.spring.test.AutoConfigureRecordingOutbox;
import dev.outbox.testing.RecordingOutbox;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Bean;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.transaction.support.TransactionTemplate;

/** The recording outbox of the test kit in the transactions of MongoDB. */
@SpringBootTest(
    webEnvironment = WebEnvironment.NONE,
    properties = "spring.autoconfigure.exclude=" + Excluded.JDBC)
@AutoConfigureRecordingOutbox
class MongoRecordingTest {
  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class App {
    @Bean
    MongoTransactionManager transactions(MongoDatabaseFactory factory) {
      return new MongoTransactionManager(factory);
    }

    @Bean
    TransactionOperations transaction(MongoTransactionManager transactions) {
      return new TransactionTemplate(transactions);
    }
  }

  private static TestServer server;

  @Autowired private JoinedOutbox joined;
  @Autowired private RecordingOutbox<?> outbox;
  @Autowired private TransactionOperations transaction;

  @BeforeAll
  static void start() {
    server = TestServer.mongo();
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
  }

  @DynamicPropertySource
  static void address(DynamicPropertyRegistry registry) {
    registry.add("spring.mongodb.uri", () -> server.address());
    registry.add("spring.mongodb.database", () -> "never_written");
  }

  private void append() {
    joined.append(Application.message("1", "OrderPlaced"));
  }

  @Test
  void whatIsCommittedIsThereAndNothingElse() {
    transaction.executeWithoutResult(
        status -> {
          append();
          status.setRollbackOnly();
        });
    assertThatThrownBy(this::append).isInstanceOf(NoTransactionException.class);
    assertThat(outbox).hasAppendedNothing();
    transaction.executeWithoutResult(
        status -> {
          append();
          assertThat(outbox).hasAppended("OrderPlaced").once();
        });
    assertThat(outbox).hasAppended("OrderPlaced").once();
  }
}
