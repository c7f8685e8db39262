package dev.outbox.spring.autoconfigure;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spring.autoconfigure.OutboxProperties.PublisherSettings;
import java.time.Duration;

/**
 * A publisher whose jar is there, not opened yet.
 *
 * @param name in {@code outbox.publisher}
 * @param broker as people call it
 * @param action what to do where it cannot be opened, as a sentence
 */
record OfferedPublisher(
    String name, String broker, String action, PublisherSettings settings, Opening opening) {

  /** Opens it; the broker need not be there yet. */
  @FunctionalInterface
  interface Opening {

    /**
     * @param timeout of one call
     * @throws IllegalArgumentException naming the setting
     */
    MessagePublisher open(Duration timeout);
  }

  /** Without what may be secret. */
  @Override
  public String toString() {
    return name;
  }
}
