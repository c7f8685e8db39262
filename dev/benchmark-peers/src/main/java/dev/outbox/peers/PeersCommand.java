package dev.outbox.peers;

import dev.outbox.cli.Address;
import dev.outbox.cli.Cleanup;
import dev.outbox.cli.CliCommand;
import dev.outbox.cli.Logs;
import dev.outbox.dev.bench.CpuClock;
import dev.outbox.dev.bench.Machine;
import dev.outbox.dev.common.Resources;
import dev.outbox.dev.database.Place;
import dev.outbox.dev.database.ServerOptions;
import dev.outbox.dev.database.StartedServer;
import dev.outbox.dev.database.StoreKind;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "peers",
    description = {
      "Measure other outboxes beside this one: the same work, on the same PostgreSQL, in one run.",
      "A server is started for it, unless you name your own; what is made there is removed again."
          + " One run at full size takes about 15 minutes, one with --faults 20."
    })
final class PeersCommand extends CliCommand implements Callable<Integer> {
  @Option(names = "--runs", description = "How often; default: 1.")
  private @Nullable Integer runs;

  @Option(names = "--scale", description = "Of sizes and durations; default: 1.")
  private @Nullable Double scale;

  @Option(
      names = "--faults",
      description =
          "Instead of measuring, break things: a failing message, an instance that is killed, one"
              + " that stands still. Says whether order held, and how long messages waited.")
  private boolean faults;

  @Mixin private final ServerOptions server = new ServerOptions(Set.of(StoreKind.POSTGRES));

  private final Resources resources = new Resources();

  @Override
  public Integer call() throws Exception {
    Logs.off();
    if (faults && (runs != null || scale != null)) {
      throw wrong("--faults has no --runs and no --scale: leave them out");
    }
    int times = runs == null ? 1 : runs;
    double size = scale == null ? 1 : scale;
    if (times < 1 || times > 100 || !(size > 0 && size <= 100)) {
      throw wrong(
          "--runs is %s, allowed is from 1 to 100; --scale is %s, allowed is more than 0 and up to 100"
              .formatted(times, size));
    }
    try (Cleanup ignored = Cleanup.atEnd(resources::close)) {
      StartedServer started = resources.add(server.open());
      Address address = started.address();
      resources.add(() -> Schema.removeAll(address));
      CpuClock cpu = new CpuClock();
      cpu.add(started.pid());
      Consumer<String> progress = text -> err().println("bench peers: " + text);
      if (faults) {
        out().print(new Faults(address, progress).run());
        out().flush();
        return 0;
      }
      Peers peers = new Peers(address, cpu, size, progress);
      Map<String, String> about = new LinkedHashMap<>(Machine.describe());
      try (Place<?> place = StoreKind.at(address)) {
        about.putAll(place.about());
      }
      about.put("Spring Boot", Versions.of("spring-boot"));
      about.put("server CPU", cpu.describe());
      about.put("runs", "" + times);
      about.put("scale", "" + size);
      out().print(PeersReport.markdown(peers.run(times), about));
      out().flush();
    }
    return 0;
  }
}
