/**
 * The relational algorithm, once: leases on buckets, claims, settling, blocked keys, dead letters.
 * A dialect fills in the statements. Internal while the version is 0.x.
 */
@NullMarked
package dev.outbox.store.jdbc;

import org.jspecify.annotations.NullMarked;
