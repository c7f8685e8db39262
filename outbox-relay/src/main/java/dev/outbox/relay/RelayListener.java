package dev.outbox.relay;

/**
 * Told of everything that happens in a relay: for logs, metrics and tests.
 *
 * <p>Called by the relay's own threads, by several at the same time, and the relay goes on only
 * after the call: be quick. What a listener throws is logged and changes nothing.
 */
@FunctionalInterface
public interface RelayListener {

  /** Something happened. Pass over events that are not known: a later version may add some. */
  void on(RelayEvent event);
}
