package dev.outbox.dev.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Runs scenarios. */
public final class Benchmarks {
  /** Default of {@link Settings#runs()}. */
  public static final int DEFAULT_RUNS = 3;

  /** The scale at which all scenarios together take a minute or two. */
  public static final double QUICK = 0.05;

  static final List<Scenario> SCENARIOS =
      List.of(
          new DrainScenario(),
          new AppendScenario(),
          new ArchiveScenario(),
          new InboxScenario(),
          new PinnedScenario(),
          new EndToEndScenario(),
          new LatencyScenario(),
          new HeldScenario(),
          new IdleScenario(),
          new FleetScenario(),
          new WorkScenario(),
          new PublishScenario());

  private Benchmarks() {}

  /**
   * What is run.
   *
   * @param scenarios names, each one of {@link Benchmarks#names()}; empty: all
   * @param runs timed ones, at least 1
   * @param scale of all sizes and durations; 1: the full ones
   */
  public record Settings(List<String> scenarios, int runs, double scale) {
    public Settings {
      scenarios = List.copyOf(scenarios);
      for (String scenario : scenarios) {
        if (!names().contains(scenario)) {
          throw new IllegalArgumentException(
              "there is no scenario %s, only %s".formatted(scenario, String.join(", ", names())));
        }
      }
      if (runs < 1 || runs > 100) {
        throw new IllegalArgumentException("runs is " + runs + ", allowed is from 1 to 100");
      }
      if (!(scale > 0 && scale <= 100)) {
        throw new IllegalArgumentException(
            "scale is " + scale + ", allowed is more than 0 and up to 100");
      }
    }
  }

  /** Of all scenarios, in the order in which they run. */
  public static List<String> names() {
    return SCENARIOS.stream().map(Scenario::name).toList();
  }

  /**
   * Runs the scenarios, one after the other.
   *
   * @param cpu with the servers; {@code kafka} may add one
   * @param kafka the bootstrap servers; asked only when a scenario needs a broker
   * @param progress told what is being done, in a few words
   */
  public static Report run(
      Settings settings,
      BenchDatabase<?> database,
      CpuClock cpu,
      Supplier<String> kafka,
      Consumer<String> progress)
      throws Exception {
    Bench bench = new Bench(settings.runs(), settings.scale(), database, cpu, kafka, progress);
    Map<String, String> about = new LinkedHashMap<>(Machine.describe());
    about.putAll(database.describe());
    about.put("runs", "" + settings.runs());
    about.put("scale", "" + settings.scale());
    List<Scenario> chosen =
        SCENARIOS.stream()
            .filter(s -> settings.scenarios().isEmpty() || settings.scenarios().contains(s.name()))
            .toList();
    for (Scenario scenario : chosen) {
      scenario.run(bench);
    }
    Map<String, String> notes = new LinkedHashMap<>();
    chosen.forEach(scenario -> notes.put(scenario.name(), scenario.what()));
    about.put("server CPU", cpu.describe());
    return new Report(about, bench.lines(), notes);
  }
}
