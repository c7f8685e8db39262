package dev.outbox.spring.autoconfigure;

import dev.outbox.relay.Diagnosis;
import dev.outbox.relay.RelayState;
import dev.outbox.relay.SchemaProbe;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.Finding.Severity;
import dev.outbox.spring.OutboxRelay;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;

/**
 * How the outbox is, for either generation of Boot. The store is asked with one small statement; a
 * broker that is away is told and is no reason to be down: messages wait, and a restart would not
 * help.
 *
 * @param relay gives null where none is in this application
 */
record OutboxHealth(SchemaProbe schema, Supplier<@Nullable OutboxRelay> relay, RelayState state) {

  /** With those of further data sources, by their names: one that is down is a reason for all. */
  Checked checkAll(ListableBeanFactory beans) {
    Checked first = check();
    Map<String, Object> details = new TreeMap<>(first.details());
    boolean up = first.isUp();
    for (MoreOutboxes.Parts other : Relays.others(beans)) {
      Checked checked = other.health().check();
      details.put(other.name(), checked.details());
      up &= checked.isUp();
    }
    return new Checked(up, details);
  }

  /**
   * @param details with {@code error}, which says why, when it is down
   */
  record Checked(boolean isUp, Map<String, Object> details) {}

  Checked check() {
    Map<String, Object> details = new TreeMap<>();
    List<Finding> findings = new ArrayList<>(List.of(schema.ask()));
    OutboxRelay running = relay.get();
    if (running != null) {
      details.put("relay", running.isRunning() ? "running" : "stopped");
      details.put("broker", state.broker());
      if (running.isRunning()) {
        findings.addAll(state.findings(running.isAlive()));
      }
    }
    List<String> paused =
        findings.stream()
            .filter(f -> f.what().equals(Diagnosis.PAUSED))
            .map(Finding::text)
            .toList();
    if (!paused.isEmpty()) {
      details.put("paused", paused);
    }
    findings.stream()
        .filter(finding -> finding.severity() == Severity.PROBLEM)
        .findFirst()
        .ifPresent(problem -> details.put("error", problem.text()));
    return new Checked(!details.containsKey("error"), details);
  }
}
