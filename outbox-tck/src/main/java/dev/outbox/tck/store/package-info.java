/** The suite that every store must pass: {@link dev.outbox.tck.store.OutboxStoreTck}. */
@NullMarked
package dev.outbox.tck.store;

import org.jspecify.annotations.NullMarked;
