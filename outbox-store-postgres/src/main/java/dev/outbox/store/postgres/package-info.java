/**
 * The outbox on PostgreSQL 14 and newer: {@link dev.outbox.store.postgres.PostgresOutboxStore},
 * whose comment has the tables and the four steps. {@link
 * dev.outbox.store.postgres.PostgresInboxStore} is the inbox. {@code docs/design/README.md} leads
 * through the other classes. Where a {@code LongSupplier} is a clock, it is {@link
 * System#nanoTime}.
 */
@NullMarked
package dev.outbox.store.postgres;

import org.jspecify.annotations.NullMarked;
