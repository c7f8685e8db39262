/**
 * The outbox on PostgreSQL 14 and newer: {@link dev.outbox.store.postgres.PostgresOutboxStore}.
 * {@link dev.outbox.store.postgres.PostgresInboxStore} is the inbox.
 *
 * <p>The comment of {@code PostgresOutboxStore} is what to read first: it has the tables and the
 * four steps. {@code PostgresDialect} puts the other classes together. {@code Append} stores
 * messages. {@code PostgresLeases} leases, locks and releases buckets; {@code PostgresReads} and
 * {@code PostgresWrites} read and change messages, by texts that {@code PostgresText} and {@code
 * PostgresReadText} share. {@code LowWaterMark} is where reading begins in a bucket, and {@code
 * CertifiedSequences} says how far it may move. {@code PostgresServer} says what errors mean, and
 * begins transactions: {@code TransactionSettings} has what each of them sets, and {@code
 * BatchStatements} sends that along with the first statement. Where a {@code LongSupplier} is a
 * clock, it is {@link System#nanoTime}.
 */
@NullMarked
package dev.outbox.store.postgres;

import org.jspecify.annotations.NullMarked;
