package dev.outbox.cli;

import static java.util.Objects.requireNonNull;

import dev.outbox.micrometer.OutboxMetrics;
import dev.outbox.publisher.core.BackgroundTasks;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.Finding.Severity;
import dev.outbox.ui.OutboxPage;
import dev.outbox.ui.PageResponse;
import dev.outbox.ui.PageServer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The relays of a configuration, one for each database, and what the process serves of them: {@code
 * /health/live}, {@code /health/ready}, {@code /metrics} and, where it is wanted, the operator's
 * page of each database.
 */
public final class RelayProcess implements AutoCloseable {
  private final List<DatabaseRelay> databases = new ArrayList<>();
  private @Nullable PageServer server;
  private @Nullable Cleanup atEnd;

  private RelayProcess() {}

  /**
   * Starts what the properties describe, logging to standard error; variables are filled in. Of
   * several databases one is enough: the others are tried again until they answer. A signal that
   * ends the JVM closes it, also while it starts.
   *
   * @throws Failure when a setting is refused or no database answers
   */
  @SuppressWarnings("try")
  public static RelayProcess start(Properties properties) {
    Logs.toStandardError(RelayConfig.logLevel(properties, System::getenv));
    Map<String, RelayConfig> configs = RelayConfig.all(properties, System::getenv);
    RelayProcess process = new RelayProcess();
    try {
      configs.forEach(
          (name, config) ->
              process.databases.add(DatabaseRelay.open(name, config, configs.size())));
      process.serve(configs.values().iterator().next()); // what is served, all say alike
      process.atEnd = Cleanup.atEnd(process::stop);
      process.start();
      return process;
    } catch (RuntimeException | Error e) {
      try (RelayProcess begun = process) {
        throw e;
      }
    }
  }

  private void serve(RelayConfig config) {
    PageSettings settings = config.server();
    if (settings == null) {
      return;
    }
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    Map<String, OutboxPage> pages = new TreeMap<>();
    for (DatabaseRelay one : databases) {
      OutboxMetrics metrics = one.metrics();
      if (metrics != null) {
        metrics.bindTo(registry);
      }
      if (config.hasPage()) {
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
    if (config.hasPage()) {
      Logger log = LoggerFactory.getLogger(RelayProcess.class);
      log.info("The operator's page is at {}", started.url());
      if (!started.isLocal()) {
        log.warn(PageSettings.WARNING);
      }
    }
  }

  private PageResponse answer(Function<DatabaseRelay, List<Finding>> question) {
    List<Finding> findings = ofEach(question).stream().flatMap(List::stream).toList();
    boolean isFine = findings.stream().noneMatch(one -> one.severity() == Severity.PROBLEM);
    StringWriter text = new StringWriter();
    Findings.print(findings, new PrintWriter(text, true));
    return PageResponse.text(isFine ? 200 : 503, text.toString().stripTrailing());
  }

  /** Returns when the first relay runs. */
  private void start() {
    CompletableFuture<Boolean> oneRuns = new CompletableFuture<>();
    CompletableFuture<Void> all =
        CompletableFuture.allOf(
            databases.stream()
                .map(one -> one.start(oneRuns).thenAccept(oneRuns::complete))
                .toArray(CompletableFuture<?>[]::new));
    CompletableFuture<Boolean> ignored = all.handle((ended, e) -> oneRuns.complete(false));
    if (!oneRuns.join()) {
      if (all.handle((ended, e) -> e.getCause()).join() instanceof RuntimeException e
          && databases.size() == 1) {
        throw e;
      }
      throw new Failure(
          databases.stream()
              .map(one -> RelayConfig.of(one.name(), String.valueOf(one.notStarted())))
              .collect(Collectors.joining("; ")));
    }
  }

  /** For tests: where the server is, with the page's token. */
  String url() {
    return requireNonNull(server).url();
  }

  /** What each of the databases says, asked at the same time; waits for all, also if one throws. */
  private <T> List<T> ofEach(Function<DatabaseRelay, T> question) {
    List<CompletableFuture<T>> answers =
        databases.stream()
            .map(one -> BackgroundTasks.<T>call("outbox-database", () -> question.apply(one)))
            .toList();
    CompletableFuture.allOf(answers.toArray(CompletableFuture<?>[]::new)).join();
    return answers.stream().map(CompletableFuture::join).toList();
  }

  private void each(Consumer<DatabaseRelay> step) {
    List<DatabaseRelay> ignored =
        ofEach(
            one -> {
              step.accept(one);
              return one;
            });
  }

  /** Stops the relays, all at the same time, then what they used, whatever one of them throws. */
  @Override
  public void close() {
    if (atEnd == null) {
      stop();
    } else {
      atEnd.close();
    }
  }

  @SuppressWarnings("try") // closed, whatever the relays throw
  private void stop() {
    try (PageServer served = server) {
      each(DatabaseRelay::stop);
    } finally {
      each(DatabaseRelay::close);
    }
  }
}
