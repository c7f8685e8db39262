/**
 * The algorithm of our stores: {@link dev.outbox.store.core.internal.Claims} runs the transactions
 * of a claim, {@link dev.outbox.store.core.internal.Database} is what they ask of a database. For
 * stores of this library alone: it changes without notice.
 */
@NullMarked
package dev.outbox.store.core.internal;

import org.jspecify.annotations.NullMarked;
