package dev.outbox.spring.modulith.orders;

import org.springframework.modulith.events.Externalized;

/** Somebody misspelt its key. */
@Externalized("orders::#{ordreId()}")
public record OrderLost(String orderId) {}
