package dev.outbox.relay;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells several listeners; what one throws reaches neither the relay nor the others. */
record Listeners(List<RelayListener> all) implements RelayListener {
  private static final Logger log = LoggerFactory.getLogger(Listeners.class);

  Listeners {
    all = List.copyOf(all);
  }

  @Override
  public void on(RelayEvent event) {
    for (RelayListener listener : all) {
      try {
        listener.on(event);
      } catch (Throwable e) { // also errors: the relay's threads never end by a listener
        log(listener, e);
      }
    }
  }

  /** Where logging throws too, as when the memory is used up, nobody can be told. */
  private static void log(RelayListener listener, Throwable e) {
    try {
      log.error("Listener {} threw; the relay goes on", listener.getClass().getName(), e);
    } catch (Throwable ignored) {
      // The relay goes on.
    }
  }
}
