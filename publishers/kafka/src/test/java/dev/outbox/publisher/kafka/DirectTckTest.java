package dev.outbox.publisher.kafka;

class DirectTckTest extends KafkaPublisherTck {
  @Override
  KafkaPublisher.Builder mode(KafkaPublisher.Builder builder) {
    return builder;
  }
}
