package dev.outbox.spring.autoconfigure;

import dev.outbox.relay.RelayEvent;
import dev.outbox.relay.RelayListener;
import dev.outbox.spi.OutboxStore;
import dev.outbox.spi.SchemaStore;
import dev.outbox.spring.OutboxRelay;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.beans.factory.ObjectProvider;

/**
 * How the outbox is, for either generation of Boot. The store is asked with one small statement; a
 * broker that is away is told and is no reason to be down: messages wait, and a restart would not
 * help.
 */
final class OutboxHealth implements RelayListener {
  private final OutboxStore<?> store;
  private final ObjectProvider<OutboxRelay> relay;
  private volatile String broker = "not known yet";

  OutboxHealth(OutboxStore<?> store, ObjectProvider<OutboxRelay> relay) {
    this.store = store;
    this.relay = relay;
  }

  @Override
  public void on(RelayEvent event) {
    if (event instanceof RelayEvent.BreakerOpened opened) {
      broker = opened.error();
    } else if (event instanceof RelayEvent.BrokerUnreachable unreachable) {
      broker = unreachable.error();
    } else if (event instanceof RelayEvent.BreakerClosed
        || event instanceof RelayEvent.BrokerReachable
        || event instanceof RelayEvent.Delivered) {
      broker = "reachable";
    }
  }

  /**
   * The details of an outbox that is up.
   *
   * @throws RuntimeException when it is down, saying why
   */
  Map<String, Object> check() {
    if (store instanceof SchemaStore schema) {
      schema.verify();
    }
    Map<String, Object> details = new TreeMap<>();
    OutboxRelay running = relay.getIfAvailable();
    if (running != null) {
      details.put("relay", running.isRunning() ? "running" : "stopped");
      details.put("broker", broker);
      if (running.isRunning() && !running.isAlive()) {
        throw new IllegalStateException(
            "threads of the relay have ended, see the log: restart the application");
      }
    }
    return details;
  }
}
