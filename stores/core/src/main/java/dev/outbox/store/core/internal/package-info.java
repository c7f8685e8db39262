/**
 * The algorithm of our stores, which knows no database. For stores of this library alone: it
 * changes without notice. {@code docs/design/README.md} leads through the classes; {@code Claims}
 * is the one to read first. Clocks give nanoseconds, as that of System.nanoTime.
 */
@NullMarked
package dev.outbox.store.core.internal;

import org.jspecify.annotations.NullMarked;
