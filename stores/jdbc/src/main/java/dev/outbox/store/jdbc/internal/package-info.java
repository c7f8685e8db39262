/**
 * The algorithm's questions in SQL, once: {@link dev.outbox.store.jdbc.internal.SqlDatabase} runs
 * the statements that all databases have in the same form, a {@link
 * dev.outbox.store.jdbc.internal.SqlDialect} has their texts and what really differs. For stores of
 * this library alone: it changes without notice.
 */
@NullMarked
package dev.outbox.store.jdbc.internal;

import org.jspecify.annotations.NullMarked;
