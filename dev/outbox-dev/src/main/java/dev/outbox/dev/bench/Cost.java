package dev.outbox.dev.bench;

import java.util.LinkedHashMap;
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
   * Since the server began; {@link #UNKNOWN} where it cannot be known.
   *
   * @param messageRows rows inserted, updated and deleted in the table of messages, and in the
   *     archive of those
   * @param bucketRows the same in the table of buckets
   * @param blockedKeyRows the same in the table of blocked keys
   * @param logBytes what went to the database's log (WAL), of everybody
   */
  record ServerWork(long messageRows, long bucketRows, long blockedKeyRows, long logBytes) {
    static final long UNKNOWN = -1;

    ServerWork since(ServerWork before) {
      return new ServerWork(
          minus(messageRows, before.messageRows),
          minus(bucketRows, before.bucketRows),
          minus(blockedKeyRows, before.blockedKeyRows),
          minus(logBytes, before.logBytes));
    }

    private static long minus(long after, long before) {
      return after < 0 || before < 0 ? UNKNOWN : after - before;
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

  /** Everything a message, by name; what cannot be known is absent. */
  Map<String, Double> perMessage() {
    Map<String, Double> all = new LinkedHashMap<>();
    all.put("statements", statements());
    all.put("roundTrips", roundTrips());
    all.put("messageRowWrites", messageRows());
    all.put("bucketRowWrites", bucketRows());
    all.put("blockedKeyRowWrites", blockedKeyRows());
    all.put("logBytes", logBytes());
    all.values().removeIf(value -> value.isNaN());
    return all;
  }

  private double each(long count) {
    return count < 0 ? Double.NaN : (double) count / messages;
  }
}
