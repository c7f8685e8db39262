package dev.outbox.spring;

import dev.outbox.JoinedOutbox;
import org.springframework.context.SmartLifecycle;

/**
 * An outbox in one of several data sources, with its relay: that runs as {@link OutboxRelay} does.
 * It joins transactions of its data source, and refuses those of others, as {@link
 * SpringTransaction} says. Safe for use by many threads.
 */
public interface DataSourceOutbox extends JoinedOutbox, SmartLifecycle, AutoCloseable {

  /** Stops the relay and closes the publisher, if it has one of its own; Spring calls it. */
  @Override
  void close();
}
