package dev.outbox.cli;

import dev.outbox.micrometer.OutboxMetrics;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RelayEvent;
import dev.outbox.relay.RelayListener;
import dev.outbox.relay.RelayState;
import dev.outbox.relay.SchemaProbe;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.Finding.Severity;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.ui.PageResponse;
import dev.outbox.ui.PageServer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a relay's process serves: {@code /health/live}, {@code /health/ready}, {@code /metrics} and,
 * where it is wanted, the operator's page.
 */
final class RelayServer implements RelayListener, AutoCloseable {

  /** How many connections to the database it uses at once, without the page. */
  static final int CONNECTIONS = 2;

  private static final Logger log = LoggerFactory.getLogger(RelayServer.class);

  private final OutboxStore<?> store;
  private final SchemaProbe schema;
  private final RelayState state = new RelayState();
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final OutboxMetrics metrics;
  private @Nullable PageServer server;

  RelayServer(OutboxStore<?> store) {
    this.store = store;
    schema = new SchemaProbe(store);
    metrics = OutboxMetrics.of(Stores.as(StatisticsStore.class, store));
    metrics.bindTo(registry);
  }

  @Override
  public void on(RelayEvent event) {
    state.on(event);
    metrics.on(event);
  }

  /**
   * Begins to serve.
   *
   * @throws Failure when it cannot
   */
  void serve(PageSettings settings, boolean page, Relay relay) {
    PageServer started =
        settings.serve(
            page ? settings.page(store, "the page of a relay") : null,
            Map.of(
                "/health/live",
                () -> answer(List.of(RelayState.threads(relay.isAlive()))),
                "/health/ready",
                () -> ready(relay),
                "/metrics",
                () -> PageResponse.of(200, "text/plain; version=0.0.4", registry.scrape())));
    server = started;
    if (page) {
      log.info("The operator's page is at {}", started.url());
      if (!started.isLocal()) {
        log.warn(PageSettings.WARNING);
      }
    }
  }

  private PageResponse ready(Relay relay) {
    List<Finding> findings = new ArrayList<>(List.of(schema.ask()));
    findings.addAll(state.findings(relay.isAlive()));
    return answer(findings);
  }

  private static PageResponse answer(List<Finding> findings) {
    boolean isFine = findings.stream().noneMatch(one -> one.severity() == Severity.PROBLEM);
    StringWriter text = new StringWriter();
    Findings.print(findings, new PrintWriter(text, true));
    return PageResponse.text(isFine ? 200 : 503, text.toString().stripTrailing());
  }

  @Override
  public void close() {
    if (server != null) {
      server.close();
    }
    metrics.close();
  }
}
