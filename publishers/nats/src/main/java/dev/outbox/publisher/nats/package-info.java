/** The NATS publisher: {@link dev.outbox.publisher.nats.NatsPublisher}. */
@NullMarked
package dev.outbox.publisher.nats;

import org.jspecify.annotations.NullMarked;
