package dev.outbox.spring.test;

import dev.outbox.spi.store.OutboxStore;
import dev.outbox.testing.RecordingOutbox;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;

/** Comes first, so that the real stores find their place taken. */
@AutoConfiguration(
    beforeName = {
      "dev.outbox.spring.autoconfigure.OutboxJdbcAutoConfiguration",
      "dev.outbox.spring.autoconfigure.OutboxMongoAutoConfiguration",
      "dev.outbox.spring.autoconfigure.OutboxAutoConfiguration"
    })
final class RecordingOutboxAutoConfiguration {

  @Bean
  SpringTransactions outboxRecordedTransactions() {
    return new SpringTransactions();
  }

  @Bean
  RecordingOutbox<SpringTransactions.Joined> recordingOutbox(SpringTransactions transactions) {
    return transactions.outbox();
  }

  /** Before a store that the application defines. */
  @Bean
  @Primary
  OutboxStore<Object> recordingOutboxStore(SpringTransactions transactions) {
    return new RecordingStore(transactions);
  }

  @Bean
  Forgotten outboxRecordedMessages(SpringTransactions transactions) {
    return new Forgotten(transactions.outbox()::clear);
  }
}
