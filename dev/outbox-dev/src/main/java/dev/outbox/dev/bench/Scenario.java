package dev.outbox.dev.bench;

import java.util.Locale;

/** The scenarios, in the order in which they run. */
enum Scenario {
  DRAIN(
      bench -> new Draining(bench).drain(),
      "200,000 messages drained by a relay whose publisher takes everything at once;"
          + " limit: select and delete in a loop, without order, with as many workers."),

  APPEND(
      Transactions::append,
      "A transaction with one business row that appends messages, commit included;"
          + " limit: the same with bare inserts of a like row, or with none, by turns."),

  ARCHIVE(
      bench -> new Draining(bench).archive(),
      "200,000 messages of 10,000 keys drained into an archive;"
          + " limit: the same relay without one, by turns."),

  INBOX(
      Transactions::inbox,
      "A consumer's transaction with one business row and firstTime of a new message, commit"
          + " included; limit: the same without firstTime, by turns."),

  PINNED(
      bench -> new Draining(bench).pinned(),
      "500,000 messages drained beside a read-only snapshot from before the fill, and 100,000 of a"
          + " key that was blocked; limit: the loop of drain on as many, beside the same."),

  END_TO_END(
      bench -> new Draining(bench).endToEnd(),
      "Two clients append, 50 messages a transaction, while a relay publishes to Kafka, from the"
          + " first append until the last message is settled; limit: a bare producer of the same."),

  LATENCY(
      bench -> new FleetScenario(bench).latency(),
      "From the return of a commit to the call of the publisher, and to its end with Kafka's"
          + " acknowledgement, with the statements and CPU time of clients and relay for a message;"
          + " no limit."),

  HELD(
      bench -> new FleetScenario(bench).held(),
      "The same to the publisher, at 2,000/s for 10 minutes, beside nothing and beside a transaction"
          + " that has appended and stays open; no limit."),

  FLEET(
      bench -> new FleetScenario(bench).run(),
      "Pods, each a process with a relay and clients that append, and one process with 20 relays:"
          + " from a commit to the publisher, with the statements of all pods, and CPU time; no"
          + " limit."),

  FLEET_ENDS(
      bench -> new FleetScenario(bench).ends(),
      "Of the same pods at 200/s one is killed, 50 times, or ends, or each is replaced: the longest"
          + " time in which a key had something to publish and nothing was published; no limit."),

  WORK(
      bench -> new Draining(bench).work(),
      "For a message of drain: statements, rows written, the message's insert among them, and bytes"
          + " of the database's log; limits as there.");

  final Run run;

  /** What is measured, and what its limit is: a sentence for below the table. */
  final String what;

  /**
   * @param run measures and adds to lines of the report; leaves no relay, pool or transaction open
   */
  Scenario(Run run, String what) {
    this.run = run;
    this.what = what;
  }

  interface Run {
    void of(Bench bench) throws Exception;
  }

  /** As on the command line. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
