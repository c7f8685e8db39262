package dev.outbox.publisher.kafka;

import java.util.UUID;

/**
 * Not with a broker that is killed: see "A broker that is killed" in docs/design/kafka.md for what
 * then becomes of transactions on a broker that is alone.
 */
class TransactionalTckTest extends KafkaPublisherTck {
  @Override
  KafkaPublisher.Builder mode(KafkaPublisher.Builder builder) {
    return builder.transactional("tck-" + UUID.randomUUID());
  }
}
