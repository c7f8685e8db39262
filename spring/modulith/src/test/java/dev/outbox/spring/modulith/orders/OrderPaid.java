package dev.outbox.spring.modulith.orders;

import dev.outbox.payload.OutboxEvent;
import org.springframework.modulith.events.Externalized;

/** Has a listener in another module, too, and both marks. */
@OutboxEvent(aggregate = "orders", key = "orderId")
@Externalized("orders::#{orderId()}")
public record OrderPaid(String orderId) {}
