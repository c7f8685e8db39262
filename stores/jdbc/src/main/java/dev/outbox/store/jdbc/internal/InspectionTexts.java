package dev.outbox.store.jdbc.internal;

import dev.outbox.spi.store.InspectionStore.Query;

/** What differs from database to database in how messages and keys are looked at. */
public abstract class InspectionTexts {

  /** What a list reads of a message's row. */
  protected static final String COLUMNS =
      """
      m.bucket, m.seq, m.id, m.status, m.aggregate_type, m.aggregate_id, m.partition_key, m.event_type,
      m.dedup_key, m.attempts, m.created_at, m.available_at, m.expires_at, m.last_error, m.last_failed_at\
      """;

  private final ArchiveTexts says;
  private final String haltsKey;

  /**
   * @param says how the database says it
   * @param haltsKey a condition on {@code m}, a dead letter: it halts its key
   */
  protected InspectionTexts(ArchiveTexts says, String haltsKey) {
    this.says = says;
    this.haltsKey =
        ", case when m.status = 'DEAD' and %s then 1 else 0 end as halts_key".formatted(haltsKey);
  }

  /** What is read of a message that is listed. */
  protected final String listed() {
    return COLUMNS + haltsKey;
  }

  /** What is read of a message that is shown. */
  protected final String whole() {
    return MessageRows.COLUMNS + ", m.status, m.last_error, m.last_failed_at" + haltsKey;
  }

  final ArchiveTexts says() {
    return says;
  }

  /**
   * Messages in the order of an index.
   *
   * @param from the table and its index, behind FROM
   * @param where which
   * @param sequence as the index has it
   * @param order of the index
   * @param ofStatus whether all are of the status that is asked for
   * @param ofKey whether all are of the key, {@code :key}
   */
  public record Range(
      String from, String where, String sequence, String order, boolean ofStatus, boolean ofKey) {}

  /** A range that has all that are asked for, and as few others as an index allows. */
  protected abstract Range range(Query query);

  /** Whether {@link #messages} reads that; else {@link #end} is always asked before. */
  protected boolean isOneRange(Query query) {
    return true;
  }

  /**
   * {@code :after, :limit, :skipped}; where there are so many messages behind that sequence, gives
   * the last of them, or one before. Reads no more; where messages lie by bucket, one more of each
   * than are skipped.
   */
  protected String end(Query query) {
    return "select max(r.seq) from (%s) r having count(*) = :limit"
        .formatted(first("m.seq", query).replace("${and}", ""));
  }

  private String first(String columns, Query query) {
    Range range = range(query);
    return says.first(
        columns,
        " from %s where %s and %s > :after${and} order by %s"
            .formatted(range.from(), range.where(), range.sequence(), range.order()));
  }

  /**
   * {@code :after, :limit}; gives {@link #listed} in the order of sequences; further conditions on
   * {@code m} come for ${and}.
   */
  protected String messages(Query query) {
    return first(listed(), query);
  }

  /** A condition on {@code m} with {@code :end}: it is no later. */
  final String upTo(Query query) {
    return range(query).sequence() + " <= :end";
  }

  /** A condition on {@code m} with {@code :error}: its last one has this text in it. */
  protected abstract String error();

  /** {@code :seq}; gives {@link #whole} of one message. */
  protected abstract String message();

  /**
   * Gives bucket, key, retry_at, halted_by, head (its lowest BLOCKED message, unless it is halted),
   * attempts and last_error of the message that it waits for, and waiting: how many are BLOCKED, up
   * to {@code :most}.
   *
   * @param which keys; no others are looked at
   */
  protected abstract String keys(Keys which);

  /** Which keys. */
  public enum Keys {
    /** {@code :limit} of those behind {@code :bucket, :key}, by bucket and key. */
    ALL,
    /** {@code :limit} of those that are halted, behind {@code :bucket, :behind, :key}. */
    HALTED,
    /** The one with {@code :bucket, :key}. */
    ONE
  }
}
