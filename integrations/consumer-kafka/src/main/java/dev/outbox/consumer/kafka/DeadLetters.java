package dev.outbox.consumer.kafka;

import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Stores the records that a consumer gives up, in a table for example.
 *
 * @param <T> the transaction's type
 * @param <K> of the records' keys
 * @param <V> of the records' values
 */
@FunctionalInterface
public interface DeadLetters<T, K, V> {

  /**
   * Stores a record, once.
   *
   * @param transaction as {@link RecordHandler#handle} is given one
   * @param why what the handler threw, or {@link KafkaInboxConsumer.Builder#messageId}, at the last
   *     try; it may be an {@link Error}
   * @throws Exception when it cannot be stored now: the record stays what it was, and is tried
   *     again
   */
  void add(T transaction, ConsumerRecord<K, V> record, Throwable why) throws Exception;
}
