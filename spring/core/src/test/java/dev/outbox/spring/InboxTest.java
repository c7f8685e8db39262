package dev.outbox.spring;

import static dev.outbox.spring.Patience.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.embedded.EmbeddedKafka;
import dev.outbox.inbox.JoinedInbox;
import dev.outbox.spring.Servers.Schema;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.backoff.FixedBackOff;

/** An application that only consumes: it has an inbox and no outbox. */
@ExtendWith(Servers.Resolver.class)
class InboxTest {

  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class App {
    @Bean
    Shipping shipping(JoinedInbox inbox, JdbcTemplate jdbc) {
      return new Shipping(inbox, jdbc);
    }

    @Bean
    CommonErrorHandler untilItSucceeds() {
      return new DefaultErrorHandler(new FixedBackOff(0, FixedBackOff.UNLIMITED_ATTEMPTS));
    }
  }

  /**
   * Fails once for each message whose text says so, before its effect is there or after, or in a
   * statement.
   */
  static class Shipping {
    private final JoinedInbox inbox;
    private final JdbcTemplate jdbc;
    private final Set<String> failed = ConcurrentHashMap.newKeySet();

    Shipping(JoinedInbox inbox, JdbcTemplate jdbc) {
      this.inbox = inbox;
      this.jdbc = jdbc;
    }

    @KafkaListener(topics = "${shipping.topic}", groupId = "shipping")
    @Transactional(rollbackFor = Exception.class) // after a checked one Spring would commit
    public void handle(ConsumerRecord<String, String> record) throws IOException {
      if (inbox.firstTime("shipping", Topic.header(record, "outbox-id"))) {
        if (record.value().startsWith("checked") && failed.add(record.value())) {
          throw new IOException("no label");
        }
        jdbc.update("insert into shipped (what) values (?)", record.value());
        if (record.value().startsWith("fragile") && failed.add(record.value())) {
          throw new IllegalStateException("out of boxes");
        }
        if (record.value().startsWith("caught") && failed.add(record.value())) {
          failAndCatch();
        }
        if (record.value().startsWith("late") && failed.add(record.value())) {
          TransactionSynchronizationManager.registerSynchronization(
              new TransactionSynchronization() {
                @Override
                public void beforeCommit(boolean readOnly) {
                  failAndCatch();
                }
              });
        }
      }
    }

    private void failAndCatch() {
      assertThatThrownBy(() -> jdbc.execute("select 1 / 0")).isNotNull();
    }
  }

  private static Topic topic;
  private static Application app;

  @BeforeAll
  static void start(Servers servers) throws Exception {
    Schema schema = servers.schema();
    EmbeddedKafka broker = servers.broker();
    topic = Topic.create(broker, schema.name());
    app =
        Application.start(
            schema,
            List.of(App.class),
            Application.WITHOUT_JPA,
            "--outbox.enabled=false",
            "--outbox.inbox.enabled=true",
            "--shipping.topic=" + topic.name(),
            "--spring.datasource.hikari.auto-commit=false", // which hides mistakes
            "--spring.kafka.listener.auto-startup=false",
            "--spring.kafka.consumer.auto-offset-reset=earliest",
            "--spring.kafka.bootstrap-servers=" + broker.bootstrapServers());
    app.execute("create table shipped (what text)");
    app.bean(KafkaListenerEndpointRegistry.class).start();
  }

  @AfterAll
  static void stop() {
    if (app != null) {
      app.close();
    }
    assertThat(Thread.getAllStackTraces().keySet())
        .extracting(Thread::getName)
        .noneMatch(name -> name.startsWith("outbox-inbox-housekeeping"));
  }

  @Test
  void aRecordThatComesTwiceHasOneEffect() throws Exception {
    send("m-1", "a book", "m-1", "a book", "m-2", "fragile glass", "m-2", "fragile glass");
    send("m-7", "checked luggage", "m-3", "the last");
    await().until(() -> shipped().contains("the last"));
    assertThat(shipped())
        .containsSubsequence("a book", "fragile glass", "checked luggage", "the last")
        .doesNotHaveDuplicates();
  }

  /** PostgreSQL rolls back at the commit, and its driver says nothing. */
  @Test
  void aRecordIsNotLostWhoseListenerCatchesWhatAStatementThrows() throws Exception {
    send("m-4", "caught in the rain", "m-5", "behind it");
    send("m-6", "late by a day"); // as in a @TransactionalEventListener before the commit
    List<String> sent = List.of("caught in the rain", "behind it", "late by a day");
    await().until(() -> shipped().containsAll(sent));
  }

  @Test
  void whatHasExpiredIsPurged() {
    app.execute(
        "insert into inbox_message (consumer, message_id, state, attempts, expires_at) values ('shipping', 'old', 'DONE', 1, now() - interval '1 second')");
    app.context().stop();
    app.context().start(); // a round begins at once
    await().until(() -> !known("old"));
  }

  /** Ids and texts. */
  private static void send(String... messages) throws Exception {
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(topic.connection(), new StringSerializer(), new StringSerializer())) {
      for (int i = 0; i < messages.length; i += 2) {
        ProducerRecord<String, String> record = new ProducerRecord<>(topic.name(), messages[i + 1]);
        record.headers().add("outbox-id", messages[i].getBytes(UTF_8));
        producer.send(record).get();
      }
    }
  }

  private static List<String> shipped() {
    return app.jdbc().queryForList("select what from shipped", String.class);
  }

  private static boolean known(String id) {
    return app.jdbc()
            .queryForObject(
                "select count(*) from inbox_message where message_id = ?", Integer.class, id)
        > 0;
  }
}
