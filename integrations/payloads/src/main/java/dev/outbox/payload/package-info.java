/**
 * Messages of an application's own classes: {@link dev.outbox.payload.OutboxEvents} knows what a
 * message is about, a {@link dev.outbox.payload.PayloadSerializer} makes its payload.
 */
@NullMarked
package dev.outbox.payload;

import org.jspecify.annotations.NullMarked;
