/** The outbox on PostgreSQL 14 and newer. */
@NullMarked
package dev.outbox.store.postgres;

import org.jspecify.annotations.NullMarked;
