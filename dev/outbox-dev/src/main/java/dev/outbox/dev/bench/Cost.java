package dev.outbox.dev.bench;

import java.util.Map;

/**
 * What was done for some messages, from a run that is counted and not timed.
 *
 * @param messages how many
 * @param work statements and round trips, counted at the client
 * @param written row writes and WAL, counted by the database
 */
record Cost(long messages, ClientWork work, ServerWork written) {

  /**
   * @param statements by name, as they reach the server: each one of a string of several, each
   *     entry of a batch; commit and rollback are none
   * @param roundTrips calls of the driver that wait for the server: executions, a whole batch as
   *     one, commits and rollbacks
   */
  record ClientWork(Map<String, Long> statements, long roundTrips) {
    /** Of all names. */
    long all() {
      return statements.values().stream().mapToLong(count -> count).sum();
    }
  }

  /**
   * Since the server began; not a number where it cannot be known.
   *
   * @param messageRows rows inserted, updated and deleted in the table of messages, and in the
   *     archive of those
   * @param bucketRows the same in the table of buckets
   * @param blockedKeyRows the same in the table of blocked keys
   * @param logBytes what went to the database's log (WAL), of everybody
   */
  record ServerWork(double messageRows, double bucketRows, double blockedKeyRows, double logBytes) {

    ServerWork since(ServerWork before) {
      return new ServerWork(
          messageRows - before.messageRows,
          bucketRows - before.bucketRows,
          blockedKeyRows - before.blockedKeyRows,
          logBytes - before.logBytes);
    }

    /** With so many rows of messages more. */
    ServerWork plusMessages(long rows) {
      return new ServerWork(messageRows + rows, bucketRows, blockedKeyRows, logBytes);
    }
  }

  double statements() {
    return each(work.all());
  }

  /** Of one name. */
  double statements(String name) {
    return each(work.statements().getOrDefault(name, 0L));
  }

  double roundTrips() {
    return each(work.roundTrips());
  }

  /** Rows of all the outbox's tables. */
  double rows() {
    return messageRows() + bucketRows() + blockedKeyRows();
  }

  double messageRows() {
    return each(written.messageRows());
  }

  double bucketRows() {
    return each(written.bucketRows());
  }

  private double blockedKeyRows() {
    return each(written.blockedKeyRows());
  }

  double logBytes() {
    return each(written.logBytes());
  }

  private double each(double count) {
    return count / messages;
  }
}
