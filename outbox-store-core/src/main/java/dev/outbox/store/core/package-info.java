/**
 * The algorithm of our stores, once: leases on buckets, claims, settling, blocked keys, dead
 * letters. A database fills in the {@link dev.outbox.store.core.Statements}. Internal while the
 * version is 0.x.
 */
@NullMarked
package dev.outbox.store.core;

import org.jspecify.annotations.NullMarked;
