package dev.outbox.spring;

import dev.outbox.OutboxMessage;

/**
 * Reads payloads for methods with {@link OutboxHandler}. By default it is Boot's Jackson, but a
 * {@code String} or {@code byte[]} is the payload as it is; a bean of the application takes its
 * place. Safe for use by many threads.
 */
@FunctionalInterface
public interface PayloadReader {

  /**
   * The payload as an object of a class.
   *
   * @throws dev.outbox.publisher.handler.UnavailableException when what it needs is away, as a
   *     registry of schemas: the message waits
   * @throws Exception when the payload is none of it: the message becomes a dead letter
   */
  Object read(OutboxMessage message, Class<?> type) throws Exception;
}
