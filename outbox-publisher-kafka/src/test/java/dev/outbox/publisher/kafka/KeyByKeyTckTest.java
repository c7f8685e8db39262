package dev.outbox.publisher.kafka;

import dev.outbox.tck.PublisherTck;

class KeyByKeyTckTest extends KafkaPublisherTck implements PublisherTck.BrokerCrashes {
  @Override
  KafkaPublisher.Builder mode(KafkaPublisher.Builder builder) {
    return builder;
  }

  @Override
  public void killBroker() {
    TestKafka.embedded().kill();
  }
}
