/**
 * For authors of stores. Numbers like C1 and S3 in these comments are rules of {@code SPEC.md}. In
 * the order in which one meets the types:
 *
 * <ol>
 *   <li>{@link dev.outbox.spi.store.OutboxStore} appends, and claims for a {@link
 *       dev.outbox.spi.store.Claim.Request}: a {@link dev.outbox.spi.store.Claim} of {@link
 *       dev.outbox.spi.store.StoredMessage}s, which is settled with a {@link
 *       dev.outbox.spi.store.Decision} for each. That is a whole store.
 *   <li>More abilities, each for itself: {@link dev.outbox.spi.store.SchemaStore}, {@link
 *       dev.outbox.spi.store.DeadLetterStore}, {@link dev.outbox.spi.store.InspectionStore}, {@link
 *       dev.outbox.spi.store.PauseStore} and {@link dev.outbox.spi.store.StatisticsStore} for
 *       people; {@link dev.outbox.spi.store.KeepingStore} for relays; {@link
 *       dev.outbox.spi.store.ArchiveStore}.
 *   <li>{@link dev.outbox.spi.store.StoreProvider} opens the store for the programs.
 *   <li>An inbox is an {@link dev.outbox.spi.store.InboxStore}.
 * </ol>
 *
 * <p>Many threads may call the methods of a store at once. What may be null is marked so. Where
 * nothing else is said, a method throws a {@link dev.outbox.TransientOutboxException} when the
 * database cannot be asked now, and another {@link dev.outbox.OutboxException} for any other
 * failure.
 */
@NullMarked
package dev.outbox.spi.store;

import org.jspecify.annotations.NullMarked;
