package dev.outbox.publisher.kafka;

class KeyByKeyTckTest extends KafkaPublisherTck {
  @Override
  KafkaPublisher.Builder mode(KafkaPublisher.Builder builder) {
    return builder;
  }
}
