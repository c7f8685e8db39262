package dev.outbox.spring.modulith.orders;

import org.springframework.modulith.events.Externalized;

/** In answer to {@link OrderPlaced}, in the same transaction. */
@Externalized("orders::#{orderId()}")
public record OrderConfirmed(String orderId) {}
