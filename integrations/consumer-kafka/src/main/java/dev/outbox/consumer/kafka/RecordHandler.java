package dev.outbox.consumer.kafka;

import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * What a consumer does with a message.
 *
 * @param <T> the transaction's type
 * @param <K> of the records' keys
 * @param <V> of the records' values
 */
@FunctionalInterface
public interface RecordHandler<T, K, V> {

  /**
   * Handles a message that comes for the first time, in the consumer's thread.
   *
   * @param transaction for all of its effects; not to be committed or rolled back here
   * @throws Exception when it cannot be handled now: the transaction is rolled back, and the record
   *     comes again; an {@link Error} means the same, and on PostgreSQL a statement that has
   *     failed, though its error was caught
   */
  void handle(T transaction, ConsumerRecord<K, V> record) throws Exception;
}
