/**
 * The algorithm of our stores, which knows no database. For stores of this library alone: it
 * changes without notice.
 *
 * <p>{@code Claims} is the class to read first: it runs the transactions of a claim. {@code
 * StoreOperations} stands before it, and has the transactions of what is no claim: what people ask,
 * housekeeping. {@code Database} is what all of it asks of a database, and {@code Transactions} how
 * it is asked; a {@code Lease} is a bucket that is held, and a {@code Row} what a read found.
 * {@code BatchReader} reads the leased buckets and chooses a batch. {@code Settlement} turns the
 * decisions, which {@code DecidedMessages} has by message, into writes. {@code InboxTaking} is the
 * algorithm of an inbox. Where a {@code LongSupplier} is a clock, it is {@link System#nanoTime}.
 */
@NullMarked
package dev.outbox.store.core.internal;

import org.jspecify.annotations.NullMarked;
