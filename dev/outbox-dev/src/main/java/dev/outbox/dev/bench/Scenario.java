package dev.outbox.dev.bench;

/**
 * One scenario.
 *
 * @param name as on the command line
 * @param what is measured, and what its limit is: one or two sentences for below the table
 * @param run measures and adds to lines of the report; leaves no relay, pool or transaction open
 */
record Scenario(String name, String what, Run run) {
  interface Run {
    void of(Bench bench) throws Exception;
  }
}
