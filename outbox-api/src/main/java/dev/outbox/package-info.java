/**
 * For applications: append a message in the transaction that changes the data. Numbers like A1 in
 * these comments are rules of {@code SPEC.md}. In the order in which one meets the types:
 *
 * <ol>
 *   <li>{@link dev.outbox.Outbox} appends an {@link dev.outbox.OutboxMessage}, with its {@link
 *       dev.outbox.Header}s, and says what it did: {@link dev.outbox.Appended}.
 *   <li>{@link dev.outbox.JoinedOutbox} does so in the transaction that a library has begun.
 *   <li>What goes wrong is an {@link dev.outbox.OutboxException}: a {@link
 *       dev.outbox.TransientOutboxException}, where trying again can help, or a {@link
 *       dev.outbox.PermanentOutboxException}, of which {@link dev.outbox.NoTransactionException},
 *       {@link dev.outbox.InvalidMessageException} and {@link dev.outbox.SchemaException} are told
 *       apart.
 *   <li>{@link dev.outbox.Archive} is a setting of the stores that can keep what was delivered.
 * </ol>
 *
 * <p>What may be null is marked so. {@link dev.outbox.Texts} is for those who write stores and
 * publishers.
 */
@NullMarked
package dev.outbox;

import org.jspecify.annotations.NullMarked;
