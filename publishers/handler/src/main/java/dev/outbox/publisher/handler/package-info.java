/** Handlers in the place of a broker: {@link dev.outbox.publisher.handler.HandlerPublisher}. */
@NullMarked
package dev.outbox.publisher.handler;

import org.jspecify.annotations.NullMarked;
