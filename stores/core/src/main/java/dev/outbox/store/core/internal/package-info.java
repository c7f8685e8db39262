/**
 * The algorithm of our stores, which knows no database. For stores of this library alone: it
 * changes without notice. {@code docs/design/README.md} leads through the classes; {@code Claims}
 * is the one to read first. Where a {@code LongSupplier} is a clock, it is {@link System#nanoTime}.
 */
@NullMarked
package dev.outbox.store.core.internal;

import org.jspecify.annotations.NullMarked;
