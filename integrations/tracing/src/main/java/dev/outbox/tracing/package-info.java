/** Traces that go through the outbox: {@link dev.outbox.tracing.OutboxTracing}. */
@NullMarked
package dev.outbox.tracing;

import org.jspecify.annotations.NullMarked;
