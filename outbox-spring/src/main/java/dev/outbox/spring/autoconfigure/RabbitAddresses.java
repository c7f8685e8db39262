package dev.outbox.spring.autoconfigure;

/**
 * The nodes of a RabbitMQ that Boot knows.
 *
 * @param text as {@code rabbit-1:5672,rabbit-2:5672}
 */
record RabbitAddresses(String text) {}
