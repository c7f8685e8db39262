package dev.outbox.publisher.kafka;

import java.util.UUID;

class TransactionalTckTest extends KafkaPublisherTck {
  @Override
  KafkaPublisher.Builder mode(KafkaPublisher.Builder builder) {
    return builder.transactional("tck-" + UUID.randomUUID());
  }
}
