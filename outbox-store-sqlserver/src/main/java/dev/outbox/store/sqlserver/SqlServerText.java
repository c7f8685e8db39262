package dev.outbox.store.sqlserver;

import static java.nio.charset.StandardCharsets.UTF_16LE;

import dev.outbox.inbox.Fingerprint;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.internal.JsonRows;
import java.sql.Types;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import org.jdbi.v3.core.argument.Argument;

/**
 * What recurs in the statements, and how it is filled in. Each comment names the documented
 * behaviour of T-SQL that its statement relies on.
 *
 * <p>Every read says how it locks, so that READ_COMMITTED_SNAPSHOT makes no difference ("Table
 * hints": with READCOMMITTEDLOCK shared locks are taken and released as data is read, whatever that
 * option is). A status is a literal where a filtered index is meant: the optimizer matches literals
 * only.
 */
record SqlServerText(PrefixedNames names) {

  /**
   * Reads what is committed now, and waits for what is not. Where nobody but the holder of the
   * bucket writes, and operators for a moment.
   */
  private static final String NOW = "with (readcommittedlock)";

  /**
   * The same where producers write beside these rows. FORCESEEK: "the query optimizer uses only an
   * index seek operation"; a scan, which can be cheaper in a small table, would also wait for what
   * they have not committed.
   */
  private static final String SEEK_NOW = "with (readcommittedlock, forceseek)";

  /** The same of dead letters, where their bucket is not known. */
  private static final String DEAD_NOW =
      "with (readcommittedlock, forceseek, index (${p}message_dead))";

  /**
   * Skips what others have locked. Where producers write. While READ_COMMITTED_SNAPSHOT is on,
   * READPAST is refused (error 650) unless READCOMMITTEDLOCK stands beside it. That is one of the
   * granularity hints, of which a table may have only one, so ROWLOCK is not used: rows are locked
   * one by one because the indexes do not allow page locks.
   */
  private static final String PAST = "with (readpast, readcommittedlock)";

  /** The same of messages: a plan that was made while the table was empty must not be a scan. */
  private static final String SEEK_PAST = "with (readpast, readcommittedlock, forceseek)";

  /** The same of SCHEDULED messages in the order of their times, which is that of their index. */
  private static final String SCHEDULED_PAST =
      "with (readpast, readcommittedlock, forceseek, index (${p}message_scheduled))";

  /** Also sees what is not committed. For buckets, to choose which to try, and to count. */
  private static final String DIRTY = "with (nolock)";

  /**
   * The same for whether a key is blocked, because only the holder of the bucket adds and removes
   * such rows, and an operator's transaction that changes one must not be waited for. In the
   * clustered index (1): in the other one an entry that is being changed is away for a moment,
   * which a dirty read could meet.
   */
  private static final String DIRTY_KEY = "with (nolock, forceseek, index (1))";

  /**
   * The time as the columns have it. SYSUTCDATETIME "returns a datetime2(7) value", and a column
   * that has to become one before it is compared may not be found by a seek.
   */
  private static final String UTC = "convert(datetime2(6), sysutcdatetime())";

  /**
   * A lease counts while it lasts; one that lies too far ahead is from before the clock jumped
   * back.
   */
  static final String FREE =
      """
      (b.lease_until is null
        or b.lease_until <= ${utc}
        or datediff_big(millisecond, sysutcdatetime(), b.leased_at)
          > datediff_big(millisecond, b.leased_at, b.lease_until))
      """;

  private static final String SCHEDULED_DUE =
      """
      exists (select 1 from ${q}${p}message m ${seekPast}
        where m.bucket = b.bucket and m.status = N'SCHEDULED'
          and m.available_at <= ${utc})
      """;

  private static final String BLOCKED_DUE =
      """
      exists (select 1 from ${q}${p}blocked_key k ${past}
        where k.bucket = b.bucket and k.halted_by is null and k.retry_at <= ${utc})
      """;

  private static final String MESSAGE_KEY =
      "coalesce(m.partition_key, m.aggregate_type + N'/' + m.aggregate_id)";

  /** The key as the tables compare it: texts that differ in trailing spaces are equal in T-SQL. */
  private static final String KEY =
      "hashbytes('SHA2_256', convert(varbinary(2042), convert(nvarchar(1021), :key)))";

  /** Whether a bucket has SCHEDULED messages and blocked keys that are due. */
  private static final String DUE =
      """
      case when ${scheduled} then 1 else 0 end as scheduled,
      case when ${blocked} then 1 else 0 end as blocked
      """
          .replace("${scheduled}", SCHEDULED_DUE)
          .replace("${blocked}", BLOCKED_DUE);

  /**
   * When a bucket was served last. What was served in the future was served before the clock was
   * put back, so long ago: else all would wait for the clock but those that are served now (C6).
   */
  private static final String SERVED_AT =
      """
      case when b.served_at > dateadd(second, 10, sysutcdatetime())
        then cast('1970-01-01' as datetime2(6)) else b.served_at end
      """;

  /** Fills in names and parts. */
  String fill(String sql) {
    return names.fill(
        sql.replace("${due}", DUE)
            .replace("${free}", FREE)
            .replace("${servedAt}", SERVED_AT)
            .replace("${past}", PAST)
            .replace("${now}", NOW)
            .replace("${dirty}", DIRTY)
            .replace("${seekPast}", SEEK_PAST)
            .replace("${scheduledPast}", SCHEDULED_PAST)
            .replace("${seekNow}", SEEK_NOW)
            .replace("${deadNow}", DEAD_NOW)
            .replace("${dirtyKey}", DIRTY_KEY)
            .replace("${messageKey}", MESSAGE_KEY)
            .replace("${key}", KEY)
            .replace("${clock}", UTC)
            .replace("${utc}", UTC));
  }

  /**
   * So many milliseconds from now. DATEADD takes an int, which has room for 24 days of them, or for
   * 68 years of seconds.
   */
  static String later(String millis) {
    return "dateadd(millisecond, convert(int, %1$s %% 1000), dateadd(second, convert(int, %1$s / 1000), ${utc}))"
        .formatted(millis);
  }

  /** What the tables compute of a key: {@code hashbytes('SHA2_256', …)} of its nvarchar bytes. */
  static byte[] keyHash(String key) {
    return Fingerprint.of(key.getBytes(UTF_16LE)).bytes();
  }

  /** As the type that OPENJSON takes, whatever the length: else each change is prepared anew. */
  static <T> Argument list(Collection<T> rows, Function<T, List<?>> columns) {
    String json = JsonRows.of(rows, columns);
    return (position, statement, context) ->
        statement.setObject(position, json, Types.LONGNVARCHAR);
  }
}
