package dev.outbox.cli;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The relays of a configuration, one for each database, and what the process serves of them. */
public final class RelayProcess implements AutoCloseable {
  private final List<DatabaseRelay> databases = new ArrayList<>();
  private @Nullable RelayServer server;

  private RelayProcess() {}

  /**
   * Starts what the properties describe, logging to standard error; variables are filled in. Of
   * several databases one is enough: the others are tried again until they answer.
   *
   * @throws Failure when a setting is refused or no database answers
   */
  public static RelayProcess start(Properties properties) {
    Logs.toStandardError(RelayConfig.logLevel(properties, System::getenv));
    Map<String, RelayConfig> configs = RelayConfig.all(properties, System::getenv);
    RelayProcess process = new RelayProcess();
    try {
      configs.forEach(
          (name, config) ->
              process.databases.add(DatabaseRelay.open(name, config, configs.size())));
      process.serve(configs.values().iterator().next()); // what is served, all say alike
      process.start();
      return process;
    } catch (RuntimeException | Error e) {
      process.close();
      throw e;
    }
  }

  private void serve(RelayConfig config) {
    PageSettings settings = config.server();
    if (settings != null) {
      server = new RelayServer(databases);
      server.serve(settings, config.hasPage());
    }
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

  /** What each of the databases says, asked at the same time. */
  static <T> List<T> ofEach(List<DatabaseRelay> databases, Function<DatabaseRelay, T> question) {
    return databases.stream()
        .map(
            one ->
                CompletableFuture.supplyAsync(
                    () -> question.apply(one), task -> new Thread(task, "outbox-database").start()))
        .toList()
        .stream()
        .map(CompletableFuture::join)
        .toList();
  }

  /** Stops the relays, all at the same time, then what they used, whatever one of them throws. */
  @Override
  public void close() {
    List<Runnable> steps = new ArrayList<>();
    steps.add(
        () -> {
          List<Boolean> ignored =
              ofEach(
                  databases,
                  one -> {
                    one.stop();
                    return true;
                  });
        });
    if (server != null) {
      steps.add(server::close);
    }
    databases.forEach(one -> steps.add(one::close));
    List<RuntimeException> thrown = new ArrayList<>();
    for (Runnable step : steps) {
      try {
        step.run();
      } catch (RuntimeException e) {
        thrown.add(e);
      }
    }
    if (!thrown.isEmpty()) {
      RuntimeException first = thrown.get(0);
      thrown.stream().skip(1).forEach(first::addSuppressed);
      throw first;
    }
  }
}
