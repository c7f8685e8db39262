/**
 * A database of any kind, as a program of a developer uses it: how it is started, where outboxes
 * are made in it, and what producers, consumers and an oracle do there. Begin with {@link
 * dev.outbox.dev.database.StoreKind}.
 */
@NullMarked
package dev.outbox.dev.database;

import org.jspecify.annotations.NullMarked;
