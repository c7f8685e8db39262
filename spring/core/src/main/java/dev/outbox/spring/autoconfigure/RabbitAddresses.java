package dev.outbox.spring.autoconfigure;

import java.util.List;

/**
 * The nodes of a RabbitMQ that Boot knows.
 *
 * @param nodes each as {@code rabbit-1:5672}
 */
record RabbitAddresses(List<String> nodes) {}
