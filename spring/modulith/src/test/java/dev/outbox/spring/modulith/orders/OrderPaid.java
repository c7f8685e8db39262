package dev.outbox.spring.modulith.orders;

import org.springframework.modulith.events.Externalized;

/** Has a listener in another module, too. */
@Externalized("orders::#{orderId()}")
public record OrderPaid(String orderId) {}
