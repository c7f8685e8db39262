package dev.outbox.dev.bench;

import dev.outbox.dev.bench.Report.Line;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One scenario. To add one takes a class, and a line in {@link Bench#SCENARIOS}. */
abstract class Scenario {
  private final String name;
  private final String what;

  /**
   * @param name as on the command line
   * @param what is measured, and what its limit is: one or two sentences for below the table
   */
  Scenario(String name, String what) {
    this.name = name;
    this.what = what;
  }

  final String name() {
    return name;
  }

  final String what() {
    return what;
  }

  /** Measures and adds lines to the report; leaves no relay, pool or transaction open. */
  abstract void run(Bench bench) throws Exception;

  /** Adds a line to the report that has no limit. */
  final void report(Bench bench, String name, String unit, List<Double> runs) {
    report(bench, name, unit, Figure.of(runs), null);
  }

  final void report(Bench bench, String name, String unit, Figure ours, @Nullable Figure limit) {
    bench.report(new Line(this.name, name, unit, ours, limit));
  }

  /** Says what is measured now. */
  final void say(Bench bench, String name, String doing) {
    bench.progress("%s, %s: %s".formatted(this.name, name, doing));
  }

  /**
   * Says which run of it is under way.
   *
   * @param run from 1; 0: the warm-up
   */
  final void say(Bench bench, String name, int run) {
    say(bench, name, run == 0 ? "warm-up" : "run %d of %d".formatted(run, bench.runs()));
  }
}
