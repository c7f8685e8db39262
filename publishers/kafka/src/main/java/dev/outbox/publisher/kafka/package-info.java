/** The Kafka publisher: {@link dev.outbox.publisher.kafka.KafkaPublisher}. */
@NullMarked
package dev.outbox.publisher.kafka;

import org.jspecify.annotations.NullMarked;
