/**
 * The demo: an order service, relays in processes of their own, a consumer, and a ledger that knows
 * what must arrive. {@link dev.outbox.dev.demo.OrderService} is the part to copy from.
 */
@NullMarked
package dev.outbox.dev.demo;

import org.jspecify.annotations.NullMarked;
