package dev.outbox.spring.stores;

import static dev.outbox.spring.stores.MysqlTest.assertHandledOnce;
import static dev.outbox.spring.stores.MysqlTest.message;
import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import dev.outbox.JoinedOutbox;
import dev.outbox.NoTransactionException;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.TestServer;
import dev.outbox.inbox.JoinedInbox;
import dev.outbox.spring.Others;
import dev.outbox.spring.OutboxRelay;
import dev.outbox.spring.autoconfigure.Healths;
import dev.outbox.testing.RecordingPublisher;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.query.Query;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
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
  private static ConfigurableApplicationContext context;

  @BeforeAll
  static void start() {
    server = TestServer.mongo();
    context =
        new SpringApplicationBuilder(App.class)
            .web(WebApplicationType.NONE)
            .run(
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
    if (context != null) {
      context.getBean(OutboxRelay.class).stop();
      context.getBean(MongoClient.class).getDatabase(NAME).drop();
      context.close();
    }
    if (server != null) {
      server.close();
    }
  }

  private static MongoTemplate mongo() {
    return context.getBean(MongoTemplate.class);
  }

  private static TransactionTemplate transaction() {
    return new TransactionTemplate(context.getBean(MongoTransactionManager.class));
  }

  private static JoinedOutbox outbox() {
    return context.getBean(JoinedOutbox.class);
  }

  @Test
  void commitDeliversAndRollbackLeavesNothing() {
    assertThatThrownBy(
            () ->
                transaction()
                    .executeWithoutResult(
                        status -> {
                          mongo().insert(new Document("_id", "order-1"), "orders");
                          outbox().append(message("order-1"));
                          throw new IllegalStateException("out of stock");
                        }))
        .hasMessage("out of stock");
    transaction()
        .executeWithoutResult(
            status -> {
              mongo().insert(new Document("_id", "order-2"), "orders");
              outbox().append(message("order-2"));
            });
    RecordingPublisher publisher = context.getBean(RecordingPublisher.class);
    await()
        .untilAsserted(
            () ->
                assertThat(publisher.delivered())
                    .extracting(stored -> stored.message().aggregateId())
                    .contains("order-2")
                    .doesNotContain("order-1"));
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
    assertThat(Healths.status(context)).isEqualTo("UP");
  }

  @Test
  void aMessageIsHandledOnce() {
    assertHandledOnce(context.getBean(JoinedInbox.class), transaction());
  }

  @Test
  void withoutATransactionItIsRefused() {
    assertThatThrownBy(() -> outbox().append(message("order-3")))
        .isInstanceOf(NoTransactionException.class);
  }

  @Test
  void aTransactionOfAnotherManagerIsRefused() {
    TransactionTemplate other = new TransactionTemplate(new Others());
    other.executeWithoutResult(
        status ->
            assertThatThrownBy(() -> outbox().append(message("order-4")))
                .isInstanceOf(NoTransactionException.class)
                .hasMessageContaining("MongoTransactionManager"));
  }

  private static final int NONE = -1;

  enum Phase {
    BEFORE_COMMIT,
    BEFORE_COMPLETION,
    AFTER_COMMIT,
    AFTER_COMPLETION,
    AFTER_ROLLBACK
  }

  static Stream<Arguments> phases() {
    return Stream.of(Phase.values())
        .flatMap(
            phase ->
                Stream.of(
                        NONE,
                        TransactionDefinition.PROPAGATION_REQUIRED,
                        TransactionDefinition.PROPAGATION_REQUIRES_NEW)
                    .map(propagation -> Arguments.of(phase, propagation)));
  }

  /** As with JDBC and JPA, whose test has more to say. */
  @ParameterizedTest
  @MethodSource("phases")
  void whatIsCalledAroundTheEnd(Phase phase, int propagation) {
    String id = UUID.randomUUID().toString();
    List<Object> done = new ArrayList<>();
    Runnable write =
        () -> {
          done.add(outbox().append(message(id)));
          done.add(context.getBean(JoinedInbox.class).firstTime("shipping", id));
        };
    Runnable called =
        () -> {
          try {
            if (propagation == NONE) {
              write.run();
            } else {
              TransactionTemplate inner = transaction();
              inner.setPropagationBehavior(propagation);
              inner.executeWithoutResult(status -> write.run());
            }
          } catch (NoTransactionException e) {
            done.add(e);
          }
        };
    transaction()
        .executeWithoutResult(
            status -> {
              mongo().insert(new Document("_id", id), "orders");
              TransactionSynchronizationManager.registerSynchronization(new Calling(phase, called));
              if (phase == Phase.AFTER_ROLLBACK) {
                status.setRollbackOnly();
              }
            });
    if (phase.compareTo(Phase.AFTER_COMMIT) < 0
        || propagation == TransactionDefinition.PROPAGATION_REQUIRES_NEW) {
      assertThat(done).hasSize(2);
      RecordingPublisher publisher = context.getBean(RecordingPublisher.class);
      await()
          .untilAsserted(
              () ->
                  assertThat(publisher.delivered())
                      .extracting(stored -> stored.message().aggregateId())
                      .contains(id));
    } else {
      assertThat(done)
          .singleElement(as(InstanceOfAssertFactories.THROWABLE))
          .isInstanceOf(NoTransactionException.class)
          .hasMessageContaining("is over")
          .hasMessageContaining("REQUIRES_NEW");
    }
  }

  private record Calling(Phase phase, Runnable called) implements TransactionSynchronization {
    @Override
    public void beforeCommit(boolean readOnly) {
      in(Phase.BEFORE_COMMIT);
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
      in(status == STATUS_COMMITTED ? Phase.AFTER_COMPLETION : Phase.AFTER_ROLLBACK);
    }

    private void in(Phase now) {
      if (phase == now) {
        called.run();
      }
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
