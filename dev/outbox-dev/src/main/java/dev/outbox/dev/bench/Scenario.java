package dev.outbox.dev.bench;

/** One scenario. To add one takes a class, and a line in {@link Bench#SCENARIOS}. */
interface Scenario {

  /** As on the command line. */
  String name();

  /** What is measured, and what its limit is: one or two sentences for below the table. */
  String what();

  /** Measures and adds lines to the report; leaves no relay, pool or transaction open. */
  void run(Bench bench) throws Exception;
}
