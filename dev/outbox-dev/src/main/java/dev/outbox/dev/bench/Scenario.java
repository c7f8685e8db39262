package dev.outbox.dev.bench;

import java.util.Locale;

/** The scenarios, in the order in which they run. */
enum Scenario {
  DRAIN(
      Draining::drain,
      """
      200,000 messages of 200 bytes drained by one relay whose publisher takes everything at once. \
      Limit: select and delete in a loop, without order, with as many workers."""),

  APPEND(
      Transactions::append,
      """
      One client; a transaction writes one business row and appends messages of 200 bytes. \
      Time of the whole transaction, commit included; the kinds take turns, transaction by transaction. \
      Limit: the same with bare inserts of a like row, or with none."""),

  ARCHIVE(
      Draining::archive,
      """
      200,000 messages of 200 bytes and 10,000 keys drained into an archive of metadata, and into a full one, \
      by one relay whose publisher takes everything at once and answers each. Limit: the same relay by turns, \
      whose store keeps no archive."""),

  INBOX(
      Transactions::inbox,
      """
      One consumer; a transaction writes one business row, and firstTime records a new message. \
      Time of the whole transaction, commit included. \
      Limit: the same without firstTime; the two take turns, transaction by transaction."""),

  PINNED(
      Draining::pinned,
      """
      500,000 messages of 10,000 keys drained while another session holds a read-only snapshot, from before the fill to the end. \
      And one key with 100,000 messages that were blocked \
      behind its head until the broker took it. Limit: its loop on as many messages under the same pin."""),

  END_TO_END(
      EndToEndScenario::run,
      """
      2 clients append, 50 messages of 200 bytes a transaction, as fast as they can, while a relay with defaults \
      publishes to Kafka; from the first append until the last message is settled. Limit: a bare KafkaProducer with \
      its defaults, idempotent, acks=all, that sends the same records. Where the broker takes 2 MB a second (a quota, \
      of both alike) the producer is what limits; otherwise appending is.\
      """),

  LATENCY(
      LatencyScenario::run,
      """
      From when a commit has returned to the call of the publisher, and to the end of that call, when Kafka has \
      acknowledged all of it. Transactions with one message of 200 bytes, 10,000 keys, 4 clients on a fixed schedule; \
      a relay in the same process, woken after each commit, or given what was committed where the store can, or in \
      another process, which polls. Of a message also the statements of clients and relay together, and the CPU time \
      of their processes. There is no limit to compare with."""),

  HELD(
      LatencyScenario::held,
      """
      From when a commit has returned to the call of the publisher, with 2,000 transactions a second for 10 minutes: \
      4 clients and a relay in the same process, which is woken after each commit. Beside nothing, and beside a \
      transaction that has appended a message and stays open all the time. In each fifth, with the CPU time of a \
      message. There is no limit to compare with."""),

  FLEET(
      FleetScenario::run,
      """
      Pods of a service, each a process of its own with one relay with defaults, whose publisher takes everything at once, \
      and clients (4 in all, at least one each) that append one message of 200 bytes a transaction by their relay and tell it of the commit; \
      1,000 keys, a fixed schedule; before that half a minute at 1,500/s, for JVMs to compile. And one process with 20 relays. Rates are of all pods together; times are from the commit in any pod to the publisher. \
      Statements and CPU are those of all pods and of the server; commits are no statements. \
      There is no limit to compare with."""),

  FLEET_ENDS(
      FleetScenario::ends,
      """
      The same pods at 200/s, and one is killed (SIGKILL), 50 times one after another, or ends in good order: \
      the one that published last for most keys, and of those keys the longest time in which there was something to publish and nothing was published; \
      or all pods are replaced one after another: the same of all keys. There is no limit to compare with."""),

  WORK(
      WorkScenario::run,
      """
      Drain, archive and append, counted and not timed. For a message: statements, commits not, or on MongoDB commands, commits too; \
      how often clients wait for the server; the rows or documents written in the outbox's tables, with the insert that brought the message; \
      bytes of the database's log. Limits as there. The insert of append's business row is among the statements of both."""),

  PUBLISH(
      PublishScenario::run,
      """
      Two threads give our publisher batches of 1,000 messages of 200 bytes, of 10,000 keys. Limit: two threads send \
      the same by the broker's own client, with the same guarantee: of each key one message at a time until it is \
      acknowledged, all keys at once. RabbitMQ: a durable queue. NATS: a stream in files. HTTP: a server that \
      only counts, and as many requests at a time as our publisher has by default. A broker that cannot be started \
      here has no line.""");

  private final Run run;
  private final String what;

  /**
   * @param run measures and adds to lines of the report; leaves no relay, pool or transaction open
   * @param what is measured, and what its limit is: one or two sentences for below the table
   */
  Scenario(Run run, String what) {
    this.run = run;
    this.what = what;
  }

  private interface Run {
    void of(Bench bench) throws Exception;
  }

  void run(Bench bench) throws Exception {
    run.of(bench);
  }

  /** Whether it needs something pinned. */
  boolean pins() {
    return this == PINNED || this == HELD;
  }

  String what() {
    return what;
  }

  /** As on the command line. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
