/**
 * The demo: an order service, relays in processes of their own, a consumer, and an oracle that
 * knows what must arrive. {@link dev.outbox.cli.demo.OrderService} is the part to copy from.
 */
@NullMarked
package dev.outbox.cli.demo;

import org.jspecify.annotations.NullMarked;
