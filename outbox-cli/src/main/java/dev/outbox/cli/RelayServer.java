package dev.outbox.cli;

import static java.util.Objects.requireNonNull;

import dev.outbox.micrometer.OutboxMetrics;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.Finding.Severity;
import dev.outbox.ui.OutboxPage;
import dev.outbox.ui.PageResponse;
import dev.outbox.ui.PageServer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a relay's process serves: {@code /health/live}, {@code /health/ready}, {@code /metrics} and,
 * where it is wanted, the operator's page of each database.
 */
final class RelayServer implements AutoCloseable {

  /** How many connections to a database it uses at once, without the page. */
  static final int CONNECTIONS = 2;

  private static final Logger log = LoggerFactory.getLogger(RelayServer.class);

  private final List<DatabaseRelay> databases;
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private @Nullable PageServer server;

  RelayServer(List<DatabaseRelay> databases) {
    this.databases = databases;
  }

  /**
   * Begins to serve.
   *
   * @throws Failure when it cannot
   */
  void serve(PageSettings settings, boolean page) {
    Map<String, OutboxPage> pages = new TreeMap<>();
    for (DatabaseRelay one : databases) {
      OutboxMetrics metrics = one.metrics();
      if (metrics != null) {
        metrics.bindTo(registry);
      }
      if (page) {
        pages.put(one.name(), one.page(settings));
      }
    }
    PageServer started =
        settings.serve(
            pages,
            Map.of(
                "/health/live",
                () -> answer(DatabaseRelay::live),
                "/health/ready",
                () -> answer(DatabaseRelay::ready),
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

  /** As {@link PageServer#url}, of what is served. */
  String url() {
    return requireNonNull(server).url();
  }

  private PageResponse answer(Function<DatabaseRelay, List<Finding>> question) {
    List<Finding> findings =
        RelayProcess.ofEach(databases, question).stream().flatMap(List::stream).toList();
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
  }
}
