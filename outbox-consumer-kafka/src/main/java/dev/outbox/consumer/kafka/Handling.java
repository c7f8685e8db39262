package dev.outbox.consumer.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.inbox.Inbox;
import dev.outbox.inbox.InboxKey;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is done with one record: a transaction, the inbox, the handler.
 *
 * @param messageId by what a message is known when it arrives again
 * @param deadLetters null: no record is given up
 */
record Handling<T, K, V>(
    Inbox<T> inbox,
    Transactions<T> transactions,
    String consumer,
    Function<ConsumerRecord<K, V>, String> messageId,
    RecordHandler<T, K, V> handler,
    @Nullable DeadLetters<T, K, V> deadLetters) {
  private static final Logger log = LoggerFactory.getLogger(KafkaInboxConsumer.class);

  /** What is done with a message that comes for the first time. */
  private interface Work<T> {
    void in(T transaction) throws Exception;
  }

  /** When it returns, the record has had its effects, now or before. */
  void handle(ConsumerRecord<K, V> record) throws Exception {
    once(key(record), transaction -> handler.handle(transaction, record));
  }

  /** Whether it is a dead letter now. */
  boolean giveUp(ConsumerRecord<K, V> record, Exception why) {
    DeadLetters<T, K, V> letters = deadLetters;
    if (letters == null) {
      return false;
    }
    try {
      once(keyOrPlace(record), transaction -> letters.add(transaction, record, why));
      log.warn(
          "Consumer {} gives up the record at offset {} of partition {} of topic {}: it is a dead letter",
          consumer,
          record.offset(),
          record.partition(),
          record.topic());
      return true;
    } catch (Exception e) {
      log.warn("Consumer {} cannot store the dead letter", consumer, e);
      return false;
    }
  }

  private void once(InboxKey key, Work<T> work) throws Exception {
    try {
      transactions.run(
          transaction -> {
            if (inbox.firstTime(transaction, key)) {
              unchecked(transaction, work);
            }
          });
    } catch (CheckedException e) {
      throw e.checked;
    }
  }

  /** Takes what is thrown through the library that runs the transaction. */
  private static <T> void unchecked(T transaction, Work<T> work) {
    try {
      work.in(transaction);
    } catch (RuntimeException e) {
      throw e; // as it is: whoever runs transactions again has to know it
    } catch (Exception e) {
      throw new CheckedException(e);
    }
  }

  private static final class CheckedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Exception checked;

    CheckedException(Exception checked) {
      super(checked);
      this.checked = checked;
    }
  }

  private InboxKey key(ConsumerRecord<K, V> record) {
    return new InboxKey(consumer, messageId.apply(record));
  }

  /** A record without an id is known by its place, at least to Kafka's own repetitions. */
  private InboxKey keyOrPlace(ConsumerRecord<K, V> record) {
    try {
      return key(record);
    } catch (RuntimeException e) {
      return new InboxKey(consumer, KafkaInboxConsumer.partitionOf(record) + "@" + record.offset());
    }
  }

  static String idHeader(ConsumerRecord<?, ?> record) {
    Header header = record.headers().lastHeader(KafkaInboxConsumer.ID_HEADER);
    if (header == null || header.value() == null) {
      throw new IllegalArgumentException(
          "the record at offset %d of partition %d of topic %s has no header %s: give the builder a messageId, which says how a record is known when it arrives again"
              .formatted(
                  record.offset(),
                  record.partition(),
                  record.topic(),
                  KafkaInboxConsumer.ID_HEADER));
    }
    return new String(header.value(), UTF_8);
  }
}
