package dev.outbox.micrometer;

import dev.outbox.relay.RelayEvent;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Which relays have opened their circuit breaker. */
final class Breakers {
  private final Set<String> open = ConcurrentHashMap.newKeySet();

  void on(RelayEvent event) {
    if (event instanceof RelayEvent.BreakerOpened opened) {
      open.add(opened.who());
    } else if (event instanceof RelayEvent.BreakerClosed
        || event instanceof RelayEvent.Stopped
        || event instanceof RelayEvent.Started) {
      open.remove(event.who());
    }
  }

  boolean anyOpen() {
    return !open.isEmpty();
  }
}
