/** A consumer of Kafka that handles each message once. */
@NullMarked
package dev.outbox.consumer.kafka;

import org.jspecify.annotations.NullMarked;
