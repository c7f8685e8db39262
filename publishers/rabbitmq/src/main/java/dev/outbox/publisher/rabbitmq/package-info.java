/** The RabbitMQ publisher: {@link dev.outbox.publisher.rabbitmq.RabbitPublisher}. */
@NullMarked
package dev.outbox.publisher.rabbitmq;

import org.jspecify.annotations.NullMarked;
