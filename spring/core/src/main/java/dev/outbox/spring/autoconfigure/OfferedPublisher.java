package dev.outbox.spring.autoconfigure;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spring.autoconfigure.OutboxProperties.PublisherSettings;
import java.time.Duration;
import java.util.function.Function;

/**
 * A publisher whose jar is there, not opened yet.
 *
 * @param name in {@code outbox.publisher}
 * @param broker as people call it
 * @param action what to do where it cannot be opened, as a sentence
 * @param opening opens it with the time limit of one call; the broker need not be there yet. Throws
 *     {@link IllegalArgumentException}, which names the setting
 */
record OfferedPublisher(
    String name,
    String broker,
    String action,
    PublisherSettings settings,
    Function<Duration, MessagePublisher> opening) {

  /** Without what may be secret. */
  @Override
  public String toString() {
    return name;
  }
}
