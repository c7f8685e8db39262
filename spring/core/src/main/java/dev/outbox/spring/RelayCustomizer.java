package dev.outbox.spring;

import dev.outbox.relay.Relay;

/**
 * Changes a relay that Spring Boot's auto-configuration is about to build: for what properties
 * cannot say, as a name that the application makes. A bean of this type is called at each start of
 * each relay, after the properties and the {@link dev.outbox.relay.RelayListener} beans.
 */
@FunctionalInterface
public interface RelayCustomizer {

  /** Changes what it likes; does not build. */
  void customize(Relay.Builder relay);
}
