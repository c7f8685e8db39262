package dev.outbox.store.mysql;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.internal.MessageRows;
import java.util.Collection;
import java.util.HexFormat;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What recurs in the statements, and how it is filled in.
 *
 * <p>A list is one JSON parameter. It is joined in front (STRAIGHT_JOIN) of a table of which the
 * index is named (FORCE INDEX), so that each row of the list is looked up by the index, whatever
 * the statistics say. Where rows are read and locked, it is numbers in the text instead: MySQL does
 * not lock what is joined with JSON. Without these means, a list of buckets or sequences is planned
 * as a scan of a table that looks small; a scan that locks waits for every row that somebody else
 * has locked, open producers' rows among them.
 *
 * <p>What several buckets have first is read by UNION ALL, because MariaDB has no LATERAL. A
 * subquery in a DELETE locks what it reads, also under READ COMMITTED; so what is to be deleted is
 * asked before. Time is {@code utc_timestamp(6)}, the statement's beginning.
 *
 * <p>{@code place} is compared with bytes, and on MariaDB a status with a literal of its own
 * collation: otherwise MariaDB 10.11 does not see that it is one value, and sorts all that has it.
 */
record MysqlText(PrefixedNames names, Flavor flavor) {

  /** The rows of a list of buckets and sequences that are PENDING: by the order they lie in. */
  private static final String PENDING_ROWS =
      """
      straight_join ${q}${p}message m force index (primary)
        on m.bucket = l.bucket and m.status = 'PENDING' and m.place = _binary'' and m.seq = l.seq
      """;

  /** The rows of a list of buckets and sequences, whatever their status. */
  private static final String OTHER_ROWS =
      """
      straight_join ${q}${p}message m force index (${p}message_seq)
        on m.seq = l.seq and m.bucket = l.bucket
      """;

  private static final String ROWS =
      """
      json_table(:rows, '$[*]' columns (
        bucket tinyint unsigned path '$[0]', seq bigint path '$[1]')) l
      """;

  /** The same, with the ids that they must have. */
  private static final String ROWS_WITH_ID =
      """
      json_table(convert(:rows using utf8mb4), '$[*]' columns (
        bucket tinyint unsigned path '$[0]', seq bigint path '$[1]',
        id varchar(37) character set ascii path '$[2]')) l
      """;

  /** And with what is archived of them besides: an answer in hexadecimal, or nothing. */
  private static final String ROWS_WITH_ANSWER =
      """
      json_table(convert(:rows using utf8mb4), '$[*]' columns (
        bucket tinyint unsigned path '$[0]', seq bigint path '$[1]',
        id varchar(37) character set ascii path '$[2]', attempts integer path '$[3]',
        answer varchar(16000) character set ascii path '$[4]')) l
      """;

  private static final String MESSAGE_KEY =
      "coalesce(m.partition_key, concat(m.aggregate_type, '/', m.aggregate_id))";

  /** In hexadecimal, because older MariaDB (seen: 10.11.5) does not undo JSON's escapes. */
  private static final String NAME = "convert(unhex(l.name) using utf8mb4) collate ${collation}";

  /**
   * The converting is for sessions with NO_BACKSLASH_ESCAPES: the driver then sends a text with
   * quotes as bytes, which are no JSON.
   */
  private static final String KEYS =
      """
      json_table(convert(:rows using utf8mb4), '$[*]' columns (
        bucket tinyint unsigned path '$[0]',
        name varchar(4090) character set ascii path '$[1]')) l
      straight_join ${q}${p}blocked_key k force index (primary)
        on k.bucket = l.bucket and k.`key` = ${name}
      """;

  /**
   * A lease counts while it lasts; one that lies too far ahead is from before the clock jumped
   * back. The latter is asked of the very moment, in the session's time zone, which {@link
   * MysqlServer#begin} sets: a statement that was held up for longer than a lease must not take a
   * live one for one from before a jump.
   */
  private static final String FREE =
      """
      (b.lease_until is null
        or b.lease_until <= sysdate(6)
        or timestampdiff(microsecond, sysdate(6), b.leased_at)
          > timestampdiff(microsecond, b.leased_at, b.lease_until))
      """;

  /**
   * When a bucket was served last. What was served in the future was served before the clock was
   * put back, so long ago: else all would wait for the clock but those that are served now (C6).
   */
  private static final String SERVED_AT =
      """
      case when b.served_at > utc_timestamp(6) + interval 10 second
        then timestamp'1970-01-01 00:00:00' else b.served_at end as served_at
      """;

  /**
   * Whether the first is due, by the order of the index, of which each column is named: a range
   * could not begin at a bucket of an outer row, and that one status is one is not seen. The places
   * of SCHEDULED messages are their times, so that they sort.
   */
  private static final String SCHEDULED_DUE =
      """
      coalesce((select m.place from ${q}${p}message m force index (primary)
        where m.bucket = b.bucket and m.status = 'SCHEDULED'
        order by m.bucket, m.status, m.place limit 1) <= cast(utc_timestamp(6) as char(26)), false)
      """;

  private static final String BLOCKED_DUE =
      """
      coalesce((select k.due_at from ${q}${p}blocked_key k force index (${p}blocked_key_due)
        where k.bucket = b.bucket
        order by k.bucket, k.due_at limit 1) <= utc_timestamp(6), false)
      """;

  /** Whether a bucket has blocked keys at all. */
  private static final String HAS_BLOCKED =
      """
      ((select 1 from ${q}${p}blocked_key k force index (primary)
        where k.bucket = b.bucket limit 1) is not null)
      """;

  /**
   * Whether all that a statement can see is durable (A1): only then a commit is in the log that is
   * on the disk before others see it. Without a binary log it is seen first.
   */
  private static final String DURABLE =
      "(@@log_bin and @@sync_binlog = 1 and @@innodb_flush_log_at_trx_commit = 1 and ${logsFirst})";

  private static final String BLOCKED_OF_KEY =
      """
      from ${q}${p}message m force index (primary)
      where m.bucket = k.bucket and m.status = 'BLOCKED' and m.place = convert(k.`key` using binary) and m.seq >= k.low_seq
      order by m.bucket, m.status, m.place, m.seq limit 1
      """;

  /** A range for each, where one over all would walk through every status. */
  private static final String EVERY_BUCKET =
      IntStream.range(0, Database.BUCKETS)
          .mapToObj(Integer::toString)
          .collect(Collectors.joining(", "));

  /**
   * The dead letters of each bucket behind {@code :after}, in order. They lie by bucket: what reads
   * them over all buckets sorts all there are.
   *
   * @param limit how many of each, as a clause
   */
  static String deadOfEachBucket(String columns, String limit) {
    return IntStream.range(0, Database.BUCKETS)
        .mapToObj(
            bucket ->
                """
                (select %s from ${q}${p}message m force index (primary)
                where m.bucket = %s and m.status = 'DEAD' and m.place = _binary'' and m.seq > :after
                order by m.bucket, m.status, m.place, m.seq %s)
                """
                    .formatted(columns, Integer.toString(bucket), limit))
        .collect(Collectors.joining("union all "));
  }

  /** Fills in names and parts. */
  String fill(String sql) {
    return names
        .fill(
            sql.replace("${rows}", ROWS_WITH_ID + PENDING_ROWS + "and m.id = l.id")
                .replace("${otherRows}", ROWS_WITH_ID + OTHER_ROWS + "and m.id = l.id")
                .replace("${archivedRows}", ROWS_WITH_ANSWER + PENDING_ROWS + "and m.id = l.id")
                .replace("${otherArchivedRows}", ROWS_WITH_ANSWER + OTHER_ROWS + "and m.id = l.id")
                .replace("${places}", ROWS + OTHER_ROWS)
                .replace("${keys}", KEYS)
                .replace("${name}", NAME)
                .replace("${messageKey}", MESSAGE_KEY)
                .replace("${free}", FREE)
                .replace("${servedAt}", SERVED_AT)
                .replace("${scheduledDue}", SCHEDULED_DUE)
                .replace("${blockedDue}", BLOCKED_DUE)
                .replace("${hasBlocked}", HAS_BLOCKED)
                .replace("${durable}", DURABLE)
                .replace("${blockedOfKey}", BLOCKED_OF_KEY)
                .replace("${columns}", MessageRows.COLUMNS)
                .replace("${clock}", "utc_timestamp(6)")
                .replace("${everyBucket}", EVERY_BUCKET))
        .replaceAll("and m\\.status = ('[A-Z]+')", "and m.status = " + flavor.status)
        .replace("${lockMessages}", flavor.lockMessages)
        .replace("${isolation}", flavor.isolation)
        .replace("${read_only}", flavor.readOnly)
        .replace("${logsFirst}", flavor.logsFirst)
        .replace("${collation}", flavor.collation);
  }

  static <T> String join(Collection<T> values, String separator, Function<T, ?> part) {
    return values.stream().map(part).map(String::valueOf).collect(Collectors.joining(separator));
  }

  /** As the statements take texts in lists. */
  static String hex(String text) {
    return HexFormat.of().formatHex(text.getBytes(UTF_8));
  }
}
