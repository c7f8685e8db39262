package dev.outbox.spring.stores;

import static dev.outbox.spring.Application.message;
import static dev.outbox.spring.Patience.await;
import static dev.outbox.spring.stores.MysqlTest.assertHandledOnce;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import dev.outbox.JoinedOutbox;
import dev.outbox.NoTransactionException;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.TestServer;
import dev.outbox.inbox.JoinedInbox;
import dev.outbox.spring.Application;
import dev.outbox.spring.EndOfTransaction;
import dev.outbox.spring.EndOfTransaction.In;
import dev.outbox.spring.EndOfTransaction.Phase;
import dev.outbox.spring.Others;
import dev.outbox.spring.OutboxRelay;
import dev.outbox.spring.autoconfigure.Healths;
import dev.outbox.testing.RecordingPublisher;
import java.util.UUID;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.query.Query;
import org.springframework.transaction.support.TransactionTemplate;

/** Appends join the transaction in which a MongoTemplate writes. */
class MongoTest {
  private static final String NAME = "spring_" + UUID.randomUUID().toString().substring(0, 8);

  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class App {
    @Bean
    MongoTransactionManager transactions(MongoDatabaseFactory factory) {
      return new MongoTransactionManager(factory);
    }

    @Bean
    RecordingPublisher publisher() {
      return new RecordingPublisher();
    }
  }

  private static TestServer server;
  private static Application application;

  @BeforeAll
  static void start() {
    server = TestServer.mongo();
    application =
        Application.run(
            App.class,
            "--spring.main.banner-mode=off",
            "--spring.autoconfigure.exclude=" + Excluded.JDBC,
            "--spring.mongodb.uri=" + server.address(),
            "--spring.mongodb.database=" + NAME,
            "--spring.data.mongodb.uri=" + server.address(),
            "--spring.data.mongodb.database=" + NAME,
            "--outbox.inbox.enabled=true",
            "--outbox.archive=metadata",
            "--outbox.archive-retention=7d",
            "--outbox.schema-mode=migrate");
    mongo().createCollection("orders");
  }

  @AfterAll
  static void stop() {
    if (application != null) {
      application.bean(OutboxRelay.class).stop();
      application.bean(MongoClient.class).getDatabase(NAME).drop();
      application.close();
    }
    if (server != null) {
      server.close();
    }
  }

  private static MongoTemplate mongo() {
    return application.bean(MongoTemplate.class);
  }

  private static TransactionTemplate transaction() {
    return application.transaction();
  }

  private static JoinedOutbox outbox() {
    return application.bean(JoinedOutbox.class);
  }

  private static void place(String id) {
    mongo().insert(new Document("_id", id), "orders");
  }

  private static void placeAndAppend(String id) {
    place(id);
    outbox().append(message(id, "OrderPlaced"));
  }

  @Test
  void commitDeliversAndRollbackLeavesNothing() {
    Application.rollBack(transaction(), () -> placeAndAppend("order-1"));
    Application.commit(transaction(), () -> placeAndAppend("order-2"));
    await()
        .untilAsserted(
            () ->
                assertThat(application.delivered())
                    .contains("OrderPlaced order-2")
                    .doesNotContain("OrderPlaced order-1"));
    await()
        .untilAsserted(
            () ->
                assertThat(mongo().findAll(Document.class, "outbox_archive_message"))
                    .extracting(archived -> archived.getString("aggregateId"))
                    .contains("order-2")
                    .doesNotContain("order-1"));
    assertThat(mongo().findAll(Document.class, "orders"))
        .extracting(order -> order.getString("_id"))
        .contains("order-2")
        .doesNotContain("order-1");
    assertThat(Healths.status(application.context())).isEqualTo("UP");
  }

  @Test
  void aMessageIsHandledOnce() {
    assertHandledOnce(application.bean(JoinedInbox.class), transaction());
  }

  @Test
  void aTransactionOfAnotherManagerIsRefused() {
    TransactionTemplate other = new TransactionTemplate(new Others());
    other.executeWithoutResult(
        status ->
            assertThatThrownBy(() -> outbox().append(message("order-4", "OrderPlaced")))
                .isInstanceOf(NoTransactionException.class)
                .hasMessageContaining("MongoTransactionManager"));
  }

  @ParameterizedTest
  @MethodSource("dev.outbox.spring.EndOfTransaction#cases")
  void whatIsTakenAroundTheEndIsCommitted(Phase phase, In in) {
    String id = UUID.randomUUID().toString();
    if (new EndOfTransaction(application, MongoTest::transaction, MongoTest::place)
        .takes(phase, in, id)) {
      await()
          .untilAsserted(() -> assertThat(application.delivered()).contains("OrderPlaced " + id));
    }
  }

  /** Whoever runs the transaction again has to see the driver's own error, and its label. */
  @Test
  void aConflictComesAsTheDriverSaysIt() {
    assertThatThrownBy(
            () ->
                transaction()
                    .executeWithoutResult(
                        status -> {
                          assertThat(mongo().count(all(), "orders")).isNotNegative(); // snapshot
                          elsewhere("request-1");
                          outbox().append(withDedupKey("request-1"));
                        }))
        .isInstanceOfSatisfying(
            MongoException.class,
            e ->
                assertThat(e.hasErrorLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL))
                    .isTrue());
  }

  private static Query all() {
    return new Query();
  }

  private static OutboxMessage withDedupKey(String key) {
    return OutboxMessage.builder()
        .aggregate("request", key)
        .eventType("Asked")
        .payload("{}")
        .dedupKey(key)
        .build();
  }

  /** In another thread, so in another transaction, which commits at once. */
  private static void elsewhere(String key) {
    Thread thread =
        new Thread(
            () -> transaction().executeWithoutResult(s -> outbox().append(withDedupKey(key))));
    thread.start();
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
