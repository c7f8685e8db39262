package dev.outbox.publisher.kafka;

import java.util.UUID;

/**
 * Not with a broker that is killed: see "A broker that stops" in docs/design/kafka.md for what then
 * becomes of transactions.
 */
class TransactionalTckTest extends KafkaPublisherTck {
  @Override
  KafkaPublisher.Builder mode(KafkaPublisher.Builder builder) {
    return builder.transactional("tck-" + UUID.randomUUID());
  }
}
