package dev.outbox.spring.autoconfigure;

import dev.outbox.relay.RelayState;
import dev.outbox.spi.store.Finding.Severity;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spring.OutboxRelay;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.beans.factory.ObjectProvider;

/**
 * How the outbox is, for either generation of Boot. The store is asked with one small statement; a
 * broker that is away is told and is no reason to be down: messages wait, and a restart would not
 * help.
 */
final class OutboxHealth {
  private final OutboxStore<?> store;
  private final ObjectProvider<OutboxRelay> relay;
  private final RelayState state;

  OutboxHealth(OutboxStore<?> store, ObjectProvider<OutboxRelay> relay, RelayState state) {
    this.store = store;
    this.relay = relay;
    this.state = state;
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
      details.put("broker", state.broker());
      if (running.isRunning()) {
        state.findings(running.isAlive()).stream()
            .filter(finding -> finding.severity() == Severity.PROBLEM)
            .findFirst()
            .ifPresent(
                problem -> {
                  throw new IllegalStateException(problem.text());
                });
      }
    }
    return details;
  }
}
