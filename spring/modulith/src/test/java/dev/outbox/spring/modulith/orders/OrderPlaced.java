package dev.outbox.spring.modulith.orders;

import java.math.BigDecimal;
import java.time.Instant;
import org.springframework.modulith.events.Externalized;

/** The key is a template that is an expression as a whole. */
@Externalized("orders::#{orderId()}")
public record OrderPlaced(String orderId, BigDecimal total, Instant at) {}
