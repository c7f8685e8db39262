package dev.outbox.store.mysql;

import dev.outbox.store.core.Names;
import dev.outbox.store.jdbc.Dialect;
import dev.outbox.store.jdbc.Rows;
import dev.outbox.store.jdbc.Sql;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * All statements, with the table names filled in. Named parameters are JDBI's.
 *
 * <p>A list is one JSON parameter (of numbers in the text where rows are read and locked: MySQL
 * does not lock what is joined with JSON), joined in front (STRAIGHT_JOIN) of a table of which the
 * index is named (FORCE INDEX): so each row of the list is looked up by the index, whatever the
 * statistics say. Without, a list of buckets or sequences is planned as a scan of a table that
 * looks small; a scan that locks waits for every row that somebody else has locked, open producers'
 * rows among them.
 *
 * <p>What several buckets have first is read by UNION ALL, because MariaDB has no LATERAL. A
 * subquery in a DELETE locks what it reads, also under READ COMMITTED; so what is to be deleted is
 * asked before. Time is {@code utc_timestamp(6)}, the statement's beginning.
 *
 * <p>{@code place} is compared with bytes, and on MariaDB a status with a literal of its own
 * collation: otherwise MariaDB 10.11 does not see that it is one value, and sorts all that has it.
 */
final class MysqlStatements {

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
        id char(37) character set ascii path '$[2]')) l
      """;

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
        name varchar(2040) character set ascii path '$[1]')) l
      straight_join ${q}${p}blocked_key k force index (primary)
        on k.bucket = l.bucket and k.`key` = ${name}
      """;

  /**
   * A lease counts while it lasts; one that lies too far ahead is from before the clock jumped
   * back. The latter is asked of the very moment, in the session's time zone, which {@link Session}
   * sets: a statement that was held up for longer than a lease must not take a live one for one
   * from before a jump.
   */
  private static final String FREE =
      """
      (b.lease_until is null
        or b.lease_until <= sysdate(6)
        or timestampdiff(microsecond, sysdate(6), b.leased_at)
          > timestampdiff(microsecond, b.leased_at, b.lease_until))
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

  /** The status that a PENDING or SCHEDULED message must move to, or null. */
  private static final String TARGET = "case ${blocked} when ${orElse} end";

  /** Left out for buckets that have no blocked keys: it makes the read half as slow again. */
  private static final String KEY_BLOCKED =
      """
      when (select 1 from ${q}${p}blocked_key k
        where k.bucket = ${bucket} and k.`key` = coalesce(m.partition_key, m.aggregate_id)
        limit 1) is not null then 'BLOCKED'
      """;

  private static final String BLOCKED_OF_KEY =
      """
      from ${q}${p}message m force index (primary)
      where m.bucket = k.bucket and m.status = 'BLOCKED' and m.place = convert(k.`key` using binary) and m.seq >= k.low_seq
      order by m.bucket, m.status, m.place, m.seq limit 1
      """;

  /** A range for each, where one over all would walk through every status. */
  private static final String EVERY_BUCKET =
      IntStream.range(0, Dialect.BUCKETS)
          .mapToObj(Integer::toString)
          .collect(Collectors.joining(", "));

  /** Those that all databases have in the same form. */
  final Map<Sql, String> all = new EnumMap<>(Sql.class);

  /** Each bucket, with whether it is free and has work; of a lease that lasts, whose it is. */
  final String buckets;

  /**
   * Locks those of the wanted buckets that are still free and that nobody else has locked. By their
   * primary key: with ORDER BY and LIMIT, all would be locked before the first is taken.
   */
  final String lockFree;

  /** Leases what {@link #lockFree} locked. */
  final String take;

  /** Locks leased buckets in ascending order: the order in which their rows lie. */
  final String lockHeld;

  /** Which of some buckets have blocked keys. */
  final String withBlockedKeys;

  /** What a read adds for those. */
  final String keyBlocked;

  final String release;

  /** Due keys of a bucket, with their lowest BLOCKED message. */
  final String dueKeys;

  /** The first BLOCKED messages of a key, from a sequence on: their sizes. */
  final String followers;

  final String readBlocked;

  /** The keys that have no BLOCKED message any more. */
  final String emptyKeys;

  final String free;
  final String advance;
  final String oldDedupKeys;
  final String purgeDedup;
  final String append;
  final String appendDedup;
  final String fresh;

  private final Names names;
  private final Flavor flavor;

  MysqlStatements(Names names, Flavor flavor) {
    this.names = names;
    this.flavor = flavor;
    buckets =
        fill(
            """
            select b.bucket, b.relay, b.served_at, b.lease_until > utc_timestamp(6) as leased,
              ${free} and (
                (select 1 from ${q}${p}message m force index (primary)
                  where m.bucket = b.bucket and m.status = 'PENDING' and m.place = _binary'' limit 1) is not null
                or ${scheduledDue} or ${blockedDue}) as has_work
            from ${q}${p}bucket b force index (primary)
            where b.bucket between 0 and 63
            """);
    lockFree =
        fill(
            """
            select b.bucket, b.token + 1 as token, b.served_at,
              ${scheduledDue} as scheduled, ${blockedDue} as blocked,
              case when b.owner is not null and b.takeovers >= 2 then ? else b.singles end as singles,
              case when b.owner is null then b.takeovers
                when b.takeovers >= 2 then 0 else b.takeovers + 1 end as takeovers
            from ${q}${p}bucket b force index (primary)
            where b.bucket in (${buckets}) and ${free}
            for update skip locked
            """);
    take =
        fill(
            """
            update json_table(:rows, '$[*]' columns (
              bucket tinyint unsigned path '$[0]', token bigint path '$[1]',
              singles integer path '$[2]', takeovers integer path '$[3]')) l
            straight_join ${q}${p}bucket b force index (primary) on b.bucket = l.bucket
            set b.token = l.token, b.singles = l.singles, b.takeovers = l.takeovers,
              b.owner = :owner, b.relay = :relay, b.leased_at = utc_timestamp(6),
              b.lease_until = utc_timestamp(6) + interval :leaseMillis * 1000 microsecond
            """);
    all.put(
        Sql.RENEW,
        fill(
            """
            update json_table(:rows, '$[*]' columns (bucket tinyint unsigned path '$[0]')) l
            straight_join ${q}${p}bucket b force index (primary) on b.bucket = l.bucket
            set b.leased_at = utc_timestamp(6),
              b.lease_until = utc_timestamp(6) + interval :leaseMillis * 1000 microsecond
            """));
    lockHeld =
        fill(
            """
            select b.bucket,
              timestampdiff(microsecond, sysdate(6), b.lease_until) div 1000 as left_millis,
              ${scheduledDue} as scheduled, ${blockedDue} as blocked, 0 as txid, '' as history
            from ${q}${p}bucket b force index (primary)
            where (${tokens}) and b.owner = ?
            order by b.bucket
            for update
            """);
    release =
        fill(
            """
            update json_table(:rows, '$[*]' columns (
              bucket tinyint unsigned path '$[0]', decided integer path '$[1]',
              settled boolean path '$[2]', keeps_turn boolean path '$[3]')) l
            straight_join ${q}${p}bucket b force index (primary) on b.bucket = l.bucket
            set b.owner = null, b.leased_at = null, b.lease_until = null,
              b.served_at = if(l.keeps_turn, b.served_at, utc_timestamp(6)),
              b.takeovers = if(l.settled, 0, b.takeovers),
              b.singles = greatest(0, b.singles - l.decided)
            where b.owner = :owner
            """);
    withBlockedKeys =
        fill(
            """
            select b.bucket from ${q}${p}bucket b force index (primary)
            where b.bucket in (${buckets}) and (
              select 1 from ${q}${p}blocked_key k force index (primary)
              where k.bucket = b.bucket limit 1) is not null
            """);
    keyBlocked = fill(KEY_BLOCKED);
    messages();
    keys();
    dueKeys =
        fill(
            """
            (select k.bucket, k.`key` as name, k.low_seq,
              (select m.seq ${blockedOfKey}) as head,
              (select m.last_failed_at is not null ${blockedOfKey}) as failed,
              (select m.payload_size ${blockedOfKey}) as size
            from ${q}${p}blocked_key k force index (${p}blocked_key_due)
            where k.bucket = ${bucket} and k.due_at <= utc_timestamp(6)
            order by k.bucket, k.due_at
            limit ${most})
            """);
    followers =
        fill(
            """
            (select m.bucket, m.place as name, m.seq, m.payload_size as size
            from ${q}${p}message m force index (primary)
            where m.bucket = ${bucket} and m.status = 'BLOCKED' and m.place = convert(? using binary) and m.seq >= ${seq}
            order by m.bucket, m.status, m.place, m.seq
            limit ${most})
            """);
    readBlocked = fill("select " + Rows.COLUMNS + " from " + ROWS + OTHER_ROWS);
    emptyKeys =
        fill(
            """
            select k.bucket, k.`key` as name from ${keys}
            where k.halted_by is null and (select m.seq ${blockedOfKey}) is null
            """);
    free = fill("delete k from ${keys} where k.halted_by is null");
    advance =
        fill(
            """
            update ${keys} set
              k.retry_at = utc_timestamp(6), k.low_seq = coalesce((select m.seq ${blockedOfKey}), k.low_seq)
            where k.halted_by is null
            """);
    oldDedupKeys =
        fill(
            """
            select dedup_key from ${q}${p}dedup force index (${p}dedup_age)
            where created_at < utc_timestamp(6) - interval :windowMillis * 1000 microsecond
            order by created_at
            limit :most
            for update skip locked
            """);
    purgeDedup =
        fill(
            """
            delete d from json_table(convert(:rows using utf8mb4), '$[*]' columns (
              name varchar(2040) character set ascii path '$[0]')) l
            straight_join ${q}${p}dedup d force index (primary) on d.dedup_key = ${name}
            """);
    append =
        fill(
            """
            insert into ${q}${p}message (id, aggregate_type, aggregate_id, event_type, partition_key,
              payload, content_type, headers, dedup_key, correlation_id, status, available_at) values
            """);
    // An old key that was not purged yet is taken over; one inside the window stays as it is.
    // In this order: appended_by looks at the old time.
    appendDedup =
        fill(
            """
            insert into ${q}${p}dedup (dedup_key, created_at, appended_by) values ${values}
            on duplicate key update
              appended_by = if(created_at < utc_timestamp(6) - interval ? * 1000 microsecond,
                values(appended_by), appended_by),
              created_at = if(appended_by = values(appended_by), utc_timestamp(6), created_at)
            """);
    fresh = fill("select dedup_key from ${q}${p}dedup where appended_by = ? and dedup_key in ");
  }

  /** Statements on messages. */
  private void messages() {
    String now = "cast(utc_timestamp(6) as char(26))";
    read(
        Sql.READ_PENDING,
        Sql.SIZES_PENDING,
        "m.available_at > utc_timestamp(6) then 'SCHEDULED'",
        "m.status = 'PENDING' and m.place = _binary''");
    read(
        Sql.READ_SCHEDULED,
        Sql.SIZES_SCHEDULED,
        "false then null",
        "m.status = 'SCHEDULED' and m.place <= " + now);
    all.put(
        Sql.MOVE_TO_BLOCKED,
        forRows(
            """
            update ${rows} set m.status = 'BLOCKED', m.place = coalesce(m.partition_key, m.aggregate_id)
            where m.status in ('PENDING', 'SCHEDULED')
            """));
    all.put(
        Sql.MOVE_TO_SCHEDULED,
        forRows(
            """
            update ${rows} set m.status = 'SCHEDULED', m.place = cast(m.available_at as char(26))
            where m.status = 'PENDING'
            """));
    all.put(
        Sql.COUNT,
        forRows(
            """
            update ${rows} set m.attempts = greatest(0, least(m.attempts, 2147483646) + :by)
            where m.status in ('PENDING', 'SCHEDULED', 'BLOCKED')
            """));
    all.put(Sql.DELETE, forRows("delete m from ${rows}"));
    // A default is computed from the values set before it.
    all.put(
        Sql.FAIL,
        fill(
            """
            update ${q}${p}message m force index (${p}message_seq) set
              m.status = :status, m.place = default, m.attempts = :attemptsAfter,
              m.last_error = :error, m.last_failed_at = utc_timestamp(6)
            where m.seq = :seq and m.bucket = :bucket and m.id = :id and m.attempts = :attempts
              and m.available_at <=> cast(:availableAt as datetime(6))
              and m.status in ('PENDING', 'SCHEDULED', 'BLOCKED')
            """));
    all.put(
        Sql.DEAD_LETTERS,
        fill(
            """
            select ${columns}, m.last_error, m.last_failed_at
            from (
              select m.bucket, m.seq from ${q}${p}message m force index (primary)
              where m.bucket in (${everyBucket}) and m.status = 'DEAD' and m.place = _binary'' and m.seq > :after
              order by m.seq limit :limit
            ) l
            straight_join ${q}${p}message m force index (primary)
              on m.bucket = l.bucket and m.status = 'DEAD' and m.place = _binary'' and m.seq = l.seq
            order by m.seq
            """));
    all.put(
        Sql.LOCK_DEAD_LETTER,
        fill(
            """
            select bucket, coalesce(partition_key, aggregate_id) as `key`
            from ${q}${p}message force index (${p}message_seq)
            where seq = :seq and status = 'DEAD' for update
            """));
    String dead =
        " where bucket = :bucket and status = 'DEAD' and place = _binary'' and seq = :seq";
    all.put(
        Sql.REQUEUE,
        fill(
            """
            update ${q}${p}message set
              status = if(:unhalted, 'BLOCKED', 'SCHEDULED'), available_at = utc_timestamp(6),
              place = default, attempts = 0, last_failed_at = null
            """
                + dead));
    all.put(Sql.DISCARD, fill("delete from ${q}${p}message" + dead));
    all.put(
        Sql.STATISTICS,
        fill(
            """
            select
              count(case when status = 'PENDING' then 1 end) as pending,
              count(case when status = 'SCHEDULED' then 1 end) as scheduled,
              count(case when status = 'BLOCKED' then 1 end) as blocked,
              count(case when status = 'DEAD' then 1 end) as dead,
              (select count(*) from ${q}${p}blocked_key where halted_by is null) as blocked_keys,
              (select count(*) from ${q}${p}blocked_key where halted_by is not null) as halted_keys,
              timestampdiff(microsecond, min(case when status <> 'DEAD'
                and coalesce(available_at, created_at) <= utc_timestamp(6)
                then coalesce(available_at, created_at) end), utc_timestamp(6)) div 1000 as oldest_millis
            from ${q}${p}message
            """));
    all.put(
        Sql.LEASES,
        fill(
            """
            select coalesce(b.relay, '') as relay, count(*) as buckets,
              min(b.leased_at) as leased_at, max(b.lease_until) as lease_until
            from ${q}${p}bucket b
            where b.owner is not null and b.lease_until > utc_timestamp(6)
            group by coalesce(b.relay, '') order by 1
            """));
  }

  /** Statements on blocked keys and on what a test cleaner may have emptied. */
  private void keys() {
    all.put(
        Sql.BLOCK,
        fill(
            """
            insert into ${q}${p}blocked_key (bucket, `key`, retry_at, halted_by, low_seq)
            values (:bucket, :key, utc_timestamp(6) + interval :delayMillis * 1000 microsecond,
              if(:halted, :seq, null), :lowSeq)
            on duplicate key update
              retry_at = values(retry_at),
              halted_by = coalesce(values(halted_by), halted_by),
              low_seq = least(low_seq, values(low_seq))
            """));
    all.put(
        Sql.LOWER,
        fill(
            "update ${q}${p}blocked_key set low_seq = :seq"
                + " where bucket = :bucket and `key` = :key and low_seq > :seq"));
    // Only the holder of the bucket deletes rows here: an operator makes them due.
    all.put(
        Sql.UNHALT,
        fill(
            """
            update ${q}${p}blocked_key set
              halted_by = null, retry_at = utc_timestamp(6), low_seq = least(low_seq, :lowSeq)
            where bucket = :bucket and `key` = :key and halted_by = :seq
            """));
    all.put(
        Sql.HALTED_BY_NOTHING,
        fill(
            """
            select k.bucket, k.`key`, k.halted_by from ${q}${p}blocked_key k
            where k.halted_by is not null and not exists (
              select 1 from ${q}${p}message m force index (${p}message_seq)
              where m.seq = k.halted_by and m.status = 'DEAD')
            """));
    all.put(
        Sql.RESTORE_BUCKETS,
        fill(
            """
            insert into ${q}${p}bucket (bucket)
            with recursive n as (select 0 as n union all select n + 1 from n where n < 63)
            select n from n where n not in (select bucket from ${q}${p}bucket)
            on duplicate key update token = token
            """));
    all.put(
        Sql.RESTORE_BLOCKED_KEYS,
        fill(
            """
            insert into ${q}${p}blocked_key (bucket, `key`, retry_at, low_seq)
            select m.bucket, convert(m.place using utf8mb4), utc_timestamp(6), m.seq
            from (
              select m.bucket, m.place, min(m.seq) as seq from ${q}${p}message m force index (primary)
              where m.bucket = :bucket and m.status = 'BLOCKED'
              group by m.bucket, m.place
            ) m
            where (select 1 from ${q}${p}blocked_key b force index (primary)
              where b.bucket = m.bucket and b.`key` = convert(m.place using utf8mb4)
                and b.low_seq <= m.seq) is null
            on duplicate key update low_seq = least(low_seq, values(low_seq))
            """));
    all.put(Sql.SCHEMA_VERSION, fill("select version from ${q}${p}schema"));
  }

  /** One bucket's part of a read; ${bucket}, ${most} and ${bytes} are numbers. */
  private void read(Sql messages, Sql sizes, String orElse, String where) {
    String read =
        """
        (select ${columns}
        from ${q}${p}message m force index (primary)
        where m.bucket = ${bucket} and ${where}
        order by m.bucket, m.status, m.place, m.seq
        limit ${most})
        """
            .replace("${where}", where);
    String content =
        Rows.COLUMNS.replace(
                "m.payload",
                "case when ${target} is null and m.payload_size <= ${bytes} then m.payload end")
            + ", ${target} as target, null as horizon";
    String size = "m.bucket, case when ${target} is null then m.payload_size else 0 end as size";
    String target = TARGET.replace("${orElse}", orElse);
    all.put(messages, fill(read.replace("${columns}", content).replace("${target}", target)));
    all.put(sizes, fill(read.replace("${columns}", size).replace("${target}", target)));
  }

  private String forRows(String sql) {
    return fill(sql.replace("${rows}", ROWS_WITH_ID + PENDING_ROWS + "and m.id = l.id"));
  }

  /** The same statement for rows that need not be PENDING. */
  String whateverStatus(String statement) {
    return statement.replace(fill(PENDING_ROWS), fill(OTHER_ROWS));
  }

  /** Fills in names and parts. */
  private String fill(String sql) {
    return names
        .fill(
            sql.replace("${keys}", KEYS)
                .replace("${name}", NAME)
                .replace("${free}", FREE)
                .replace("${scheduledDue}", SCHEDULED_DUE)
                .replace("${blockedDue}", BLOCKED_DUE)
                .replace("${blockedOfKey}", BLOCKED_OF_KEY)
                .replace("${columns}", Rows.COLUMNS)
                .replace("${everyBucket}", EVERY_BUCKET))
        .replaceAll("and m\\.status = ('[A-Z]+')", "and m.status = " + flavor.status)
        .replace("${collation}", flavor.collation);
  }
}
