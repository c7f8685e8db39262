/**
 * The demo: customers who order, relays in processes of their own, a consumer, and a ledger that
 * knows what must arrive. What they do in a database is what a {@link
 * dev.outbox.dev.database.Place} can do.
 */
@NullMarked
package dev.outbox.dev.demo;

import org.jspecify.annotations.NullMarked;
