package dev.outbox.dev.bench;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One line of the table: a figure of ours, the limit measured beside it, and what each of them did
 * and took for a message.
 *
 * @param name what was measured, as "10 keys, 4 workers"
 * @param unit of the figure, as "messages/s"
 * @param limit one value a run, as many as of ours; null where there is none
 */
record Line(
    String scenario,
    String name,
    String unit,
    Samples ours,
    @Nullable Samples limit,
    @Nullable Cost cost,
    @Nullable Cost limitCost,
    @Nullable Cpu cpu,
    @Nullable Cpu limitCpu) {

  /** A figure that has no limit and whose cost is in another line. */
  static Line alone(String scenario, String name, String unit, Samples ours) {
    return new Line(scenario, name, unit, ours, null, null, null, null, null);
  }

  /** A figure that has no limit, with the CPU time of a message in each run. */
  static Line of(String scenario, String name, String unit, Samples ours, List<CpuClock.Time> cpu) {
    return new Line(scenario, name, unit, ours, null, null, null, new Cpu(cpu), null);
  }

  /** A figure beside another one, whose cost is in another line. */
  static Line beside(String scenario, String name, String unit, Samples ours, Samples other) {
    return new Line(scenario, name, unit, ours, other, null, null, null, null);
  }

  /** Of each run: ours divided by the limit's, which was measured next to it. */
  @Nullable Samples ratio() {
    if (limit == null) {
      return null;
    }
    List<Double> ratios = new ArrayList<>();
    for (int i = 0; i < ours.values().size(); i++) {
      ratios.add(ours.values().get(i) / limit.values().get(i));
    }
    return new Samples(ratios);
  }
}
