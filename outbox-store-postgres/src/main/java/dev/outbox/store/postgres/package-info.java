/**
 * The outbox on PostgreSQL 14 and newer: {@link dev.outbox.store.postgres.PostgresOutboxStore},
 * whose comment has the tables and the four steps. {@link
 * dev.outbox.store.postgres.PostgresInboxStore} is the inbox. {@code docs/design/README.md} leads
 * through the other classes. Clocks give nanoseconds, as that of System.nanoTime.
 */
@NullMarked
package dev.outbox.store.postgres;

import org.jspecify.annotations.NullMarked;
