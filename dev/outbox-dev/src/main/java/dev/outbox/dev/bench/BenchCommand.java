package dev.outbox.dev.bench;

import dev.outbox.cli.Cleanup;
import dev.outbox.cli.CliCommand;
import dev.outbox.cli.Logs;
import dev.outbox.dev.common.Resources;
import dev.outbox.dev.database.ServerOptions;
import dev.outbox.dev.database.StartedServer;
import dev.outbox.embedded.EmbeddedKafka;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The benchmarks, on servers of their own or the user's. */
@Command(
    name = "bench",
    description = {
      "Measure how fast the outbox is, beside what the database or the broker can do at most.",
      "Servers are started for it, unless you name your own; what is made there is removed again."
          + " All scenarios at full size take hours and 10 GB of disk: name some, or use"
          + " --quick.",
      "\"./outbox bench peers\" in a checkout measures other outboxes beside this one."
    })
public final class BenchCommand extends CliCommand implements Callable<Integer> {
  @Parameters(
      arity = "0..*",
      paramLabel = "SCENARIO",
      description = "What to measure: ${COMPLETION-CANDIDATES}; default: all.")
  private Set<Scenario> scenarios = Set.of();

  @Option(
      names = "--runs",
      description = "How often each figure is measured; default: 3, with --quick 1.")
  private @Nullable Integer runs;

  @Option(
      names = "--scale",
      description = "Of all sizes and durations; default: 1, with --quick 0.05.")
  private @Nullable Double scale;

  @Option(names = "--quick", description = "Small sizes, one run: to see that it works.")
  private boolean quick;

  @Mixin private final ServerOptions server = new ServerOptions(BenchDatabase.KINDS);

  private @Nullable String kafka;

  private final Resources resources = new Resources();
  private final CpuClock cpu = new CpuClock();

  @Override
  public Integer call() throws Exception {
    Logs.off();
    int times = runs != null ? runs : quick ? 1 : 3;
    double size = scale != null ? scale : quick ? Bench.QUICK : 1;
    check("runs", times >= 1 && times <= 100, times, "from 1 to 100");
    check("scale", size > 0 && size <= 100, size, "more than 0 and up to 100");
    Consumer<String> progress = text -> err().println("bench: " + text);
    try (Cleanup ignored = Cleanup.atEnd(resources::close)) {
      new Bench(times, size, database(), cpu, this::kafka, progress).run(scenarios, this::print);
    }
    return 0;
  }

  private void check(String name, boolean isAllowed, Object value, String allowed) {
    if (!isAllowed) {
      throw wrong("%s is %s, allowed is %s".formatted(name, value, allowed));
    }
  }

  private void print(Report report) {
    out().print(report.markdown());
    out().flush();
  }

  private BenchDatabase database() {
    StartedServer started = resources.add(server.open());
    cpu.add(started.pid());
    return resources.add(new BenchDatabase(started.address()));
  }

  private String kafka() {
    if (kafka == null) {
      EmbeddedKafka started =
          resources.add(
              EmbeddedKafka.builder()
                  .setting("auto.create.topics.enable", "false")
                  .jvmDefaults()
                  .start());
      cpu.add(OptionalLong.of(started.pid()));
      kafka = started.bootstrapServers();
    }
    return kafka;
  }
}
