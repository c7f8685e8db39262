package dev.outbox.store.sqlserver;

import dev.outbox.store.core.Names;
import dev.outbox.store.jdbc.Dialect;
import dev.outbox.store.jdbc.Rows;
import dev.outbox.store.jdbc.Sql;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * All statements, with the table names filled in. Named parameters are JDBI's. Each comment names
 * the documented behaviour of T-SQL that its statement relies on.
 *
 * <p>Every read says how it locks, so that READ_COMMITTED_SNAPSHOT makes no difference ("Table
 * hints": with READCOMMITTEDLOCK shared locks are taken and released as data is read, whatever that
 * option is). A status is a literal where a filtered index is meant: the optimizer matches literals
 * only.
 */
final class SqlServerStatements {

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
   * A lease counts while it lasts; one that lies too far ahead is from before the clock jumped
   * back.
   */
  private static final String FREE =
      """
      (b.lease_until is null
        or b.lease_until <= sysutcdatetime()
        or datediff_big(millisecond, sysutcdatetime(), b.leased_at)
          > datediff_big(millisecond, b.leased_at, b.lease_until))
      """;

  private static final String SCHEDULED_DUE =
      """
      exists (select 1 from ${q}${p}message m ${seekPast}
        where m.bucket = b.bucket and m.status = N'SCHEDULED'
          and m.available_at <= sysutcdatetime())
      """;

  private static final String BLOCKED_DUE =
      """
      exists (select 1 from ${q}${p}blocked_key k ${past}
        where k.bucket = b.bucket and k.halted_by is null and k.retry_at <= sysutcdatetime())
      """;

  /** The key as the tables compare it: texts that differ in trailing spaces are equal in T-SQL. */
  private static final String KEY =
      "hashbytes('SHA2_256', convert(varbinary(1020), convert(nvarchar(510), :key)))";

  final Map<Sql, String> all = new EnumMap<>(Sql.class);

  /**
   * All buckets, longest unserved first: by whom each is leased; whether it is free, and has work.
   * Takes no lock on them, and so waits for no other relay; that of producers' open rows is not
   * work.
   */
  final String buckets;

  /**
   * Leases one bucket if it still is free. In an UPDATE, READPAST is applied when reading data to
   * identify which records to update: a row that somebody else has locked is skipped, not waited
   * for, and counts as not changed. One statement a bucket, found by the whole primary key: a
   * statement that sorts or scans would lock, to the transaction's end, more than it takes, and a
   * second relay would get nothing. Everything that makes the bucket free is asked of the row that
   * is locked.
   */
  final String lease;

  /** What was leased; our own locks are not in our way. */
  final String leased;

  /**
   * Locks one bucket that is still held under this token. It really changes the row: an exclusive
   * lock is held to the transaction's end, with optimized locking (Azure SQL) too, where a row that
   * is only read or not changed may not stay locked.
   */
  final String lock;

  final String locked;
  final String release;

  /** The sequences of each bucket's first PENDING messages; see {@link TwoReads}. */
  final String firstPending;

  final String readBlocked;
  final String insertBlocked;
  final String advance;
  final String free;
  final String purgeDedup;

  /** Positional parameters, as those that follow. */
  final String append;

  /**
   * A key that is not there yet. One in another's open transaction is waited for, by the read or by
   * the insert: of two that insert at once one waits, and then inserts nothing, because with
   * IGNORE_DUP_KEY = ON a duplicate is left out with a warning. So there is no error, which would
   * end the caller's transaction under XACT_ABORT.
   */
  final String insertDedup;

  /** A key from before the window that was not purged yet is taken over. */
  final String renewDedup;

  private final Names names;

  SqlServerStatements(Names names) {
    this.names = names;
    String due =
        """
        case when ${scheduled} then 1 else 0 end as scheduled,
        case when ${blocked} then 1 else 0 end as blocked
        """
            .replace("${scheduled}", SCHEDULED_DUE)
            .replace("${blocked}", BLOCKED_DUE);
    buckets =
        sql(
            """
            select b.bucket,
              case when b.lease_until > sysutcdatetime() then b.relay end as leased_by,
              case when ${free} then 1 else 0 end as free,
              case when exists (select 1 from ${q}${p}message m ${seekPast}
                where m.bucket = b.bucket and m.status = N'PENDING' and m.place = 0x00)
                then 1 else 0 end as pending,
              ${due}
            from ${q}${p}bucket b ${dirty}
            order by b.served_at, b.bucket
            """
                .replace("${free}", FREE)
                .replace("${due}", due));
    lease =
        sql(
            """
            update ${q}${p}bucket ${past} set
              token = token + 1,
              owner = :owner,
              relay = :relay,
              leased_at = sysutcdatetime(),
              lease_until = ${later},
              takeovers = case when owner is null then takeovers
                when takeovers >= 2 then 0 else takeovers + 1 end,
              singles = case when owner is not null and takeovers >= 2 then :mostMessages
                else singles end
            where bucket = :bucket and ${free}
            """
                .replace("${later}", later(":leaseMillis"))
                .replace("${free}", FREE.replace("b.", "")));
    leased =
        sql(
            """
            select b.bucket, b.token, b.served_at, b.singles,
              ${due}
            from ${q}${p}bucket b ${past}
            where b.owner = :owner
            """
                .replace("${due}", due));
    lock =
        sql(
            """
            update ${q}${p}bucket set settles = settles + 1
            where bucket = :bucket and owner = :owner and token = :token
            """);
    locked =
        sql(
            """
            select b.bucket, datediff_big(millisecond, sysutcdatetime(), b.lease_until) as left_millis,
              convert(bigint, 0) as txid, N'' as history,
              ${due}
            from ${q}${p}bucket b ${past}
            where b.owner = :owner
            """
                .replace("${due}", due));
    release =
        sql(
            """
            update ${q}${p}bucket set
              owner = null, leased_at = null, lease_until = null,
              served_at = case when :keepsTurn = 1 then served_at else sysutcdatetime() end,
              takeovers = case when :settled = 1 then 0 else takeovers end,
              singles = case when singles > :decided then singles - :decided else 0 end
            where bucket = :bucket and owner = :owner
            """);
    firstPending =
        sql(
            """
            select m.seq
            from openjson(:buckets) with (bucket int '$[0]', most int '$[1]') l
            cross apply (
              select top (l.most) m.seq
              from ${q}${p}message m ${seekPast}
              where m.bucket = l.bucket and m.status = N'PENDING' and m.place = 0x00
              order by m.seq
            ) m
            """);
    readBlocked = readBlocked();
    insertBlocked =
        sql(
            """
            insert into ${q}${p}blocked_key (bucket, message_key, retry_at, halted_by, low_seq)
            values (:bucket, :key, ${later}, case when :halted = 1 then :seq end, :lowSeq)
            """
                .replace("${later}", later(":delayMillis")));
    String waiting =
        """
        ${q}${p}message m ${seekNow}
        where m.bucket = k.bucket and m.status = N'BLOCKED' and m.place = k.key_hash
          and m.seq >= k.low_seq
        """;
    advance =
        sql(
            """
            update k set
              retry_at = sysutcdatetime(),
              low_seq = coalesce((select min(m.seq) from ${waiting}), k.low_seq)
            from ${q}${p}blocked_key k
            where k.bucket = :bucket and k.key_hash = ${key} and k.halted_by is null
            """
                .replace("${waiting}", waiting));
    free =
        sql(
            """
            delete k from ${q}${p}blocked_key k
            where k.bucket = :bucket and k.key_hash = ${key} and k.halted_by is null
              and not exists (select 1 from ${waiting})
            """
                .replace("${waiting}", waiting));
    purgeDedup =
        sql(
            """
            delete top (:most) from ${q}${p}dedup ${past}
            where created_at < ${ago}
            """
                .replace("${ago}", later(":windowMillis")));
    append = append();
    insertDedup =
        sql(
            """
            insert into ${q}${p}dedup (dedup_key)
            select i.dedup_key
            from (select convert(nvarchar(510), ?) as dedup_key) i
            where not exists (select 1 from ${q}${p}dedup d ${seekNow}
              where d.dedup_hash = hashbytes('SHA2_256', convert(varbinary(1020), i.dedup_key)))
            """);
    renewDedup =
        sql(
            """
            update ${q}${p}dedup set created_at = sysutcdatetime()
            where dedup_hash = hashbytes('SHA2_256', convert(varbinary(1020), convert(nvarchar(510), ?)))
              and created_at < dateadd(millisecond, ?, dateadd(second, ?, sysutcdatetime()))
            """);
    addMessages();
    addBlockedKeys();
    addReads();
    addOperators();
    addHousekeeping();
  }

  private String sql(String text) {
    return names.fill(
        text.replace("${past}", PAST)
            .replace("${now}", NOW)
            .replace("${dirty}", DIRTY)
            .replace("${seekPast}", SEEK_PAST)
            .replace("${seekNow}", SEEK_NOW)
            .replace("${deadNow}", DEAD_NOW)
            .replace("${dirtyKey}", DIRTY_KEY)
            .replace("${key}", KEY));
  }

  /**
   * So many milliseconds from now. DATEADD takes an int, which has room for 24 days of them, or for
   * 68 years of seconds.
   */
  private static String later(String millis) {
    return "dateadd(millisecond, convert(int, %1$s %% 1000), dateadd(second, convert(int, %1$s / 1000), sysutcdatetime()))"
        .formatted(millis);
  }

  /**
   * Statements for messages of one status and place. Each is found by a seek with the whole
   * clustered key, or else its statement would lock, to look at them, rows that it does not change,
   * and wait for producers that have not committed theirs. FORCESEEK "can be specified [...] in the
   * FROM clause of an UPDATE or DELETE statement"; the list comes first (FORCE ORDER), each of its
   * rows is looked up by itself (LOOP JOIN), and because the bucket, with which the key begins, is
   * known from the list only, nothing can be looked up without it. What must be true of a row is
   * asked of the row that is changed.
   */
  private void addMessages() {
    String these =
        """
        from openjson(:messages)
          with (bucket int '$[0]', seq bigint '$[1]', id uniqueidentifier '$[2]') l
        inner join ${q}${p}message m with (forceseek) on m.bucket = l.bucket and m.seq = l.seq
        where m.status = :was and m.place = :place and m.id = l.id ${and}
        option (loop join, force order)
        """;
    all.put(Sql.DELETE, sql("delete m " + these.replace("${and}", "")));
    all.put(
        Sql.MOVE_TO_BLOCKED,
        sql(
            "update m set status = N'BLOCKED' "
                + these.replace("${and}", "and m.status in (N'PENDING', N'SCHEDULED')")));
    all.put(
        Sql.MOVE_TO_SCHEDULED,
        sql(
            "update m set status = N'SCHEDULED' "
                + these.replace("${and}", "and m.status = N'PENDING'")));
    all.put(
        Sql.COUNT,
        sql(
            """
            update m set attempts = case
              when :by < 0 and m.attempts = 0 then 0
              when :by > 0 and m.attempts = 2147483647 then m.attempts
              else m.attempts + :by end
            """
                + these.replace("${and}", "and m.status <> N'DEAD'")));
    all.put(
        Sql.FAIL,
        sql(
            """
            update ${q}${p}message set
              status = :status, attempts = :attemptsAfter, last_error = :error,
              last_failed_at = sysutcdatetime()
            where bucket = :bucket and status = :was and place = :place and seq = :seq
              and id = :id and attempts = :attempts and status <> N'DEAD'
              and (available_at = convert(datetime2(6), :availableAt, 126)
                or available_at is null and :availableAt is null)
            """));
  }

  private void addBlockedKeys() {
    all.put(
        Sql.BLOCK,
        sql(
            """
            update ${q}${p}blocked_key set
              retry_at = ${later},
              halted_by = case when :halted = 1 then :seq else halted_by end,
              low_seq = case when low_seq < :lowSeq then low_seq else :lowSeq end
            where bucket = :bucket and key_hash = ${key}
            """
                .replace("${later}", later(":delayMillis"))));
    all.put(
        Sql.LOWER,
        sql(
            """
            update ${q}${p}blocked_key set low_seq = :seq
            where bucket = :bucket and key_hash = ${key} and low_seq > :seq
            """));
    // Only the holder of the bucket deletes rows here: an operator makes them due.
    all.put(
        Sql.UNHALT,
        sql(
            """
            update ${q}${p}blocked_key set
              halted_by = null, retry_at = sysutcdatetime(),
              low_seq = case when low_seq < :lowSeq then low_seq else :lowSeq end
            where bucket = :bucket and key_hash = ${key} and halted_by = :seq
            """));
  }

  private void addReads() {
    String pending = "m.bucket = l.bucket and m.status = N'PENDING' and m.place = 0x00";
    String later = "when m.available_at > sysutcdatetime() then N'SCHEDULED'";
    all.put(Sql.READ_PENDING, messages(pending, later, "m.seq"));
    all.put(Sql.SIZES_PENDING, sizes(pending, later, "m.seq"));
    String scheduled =
        """
        m.bucket = l.bucket and m.status = N'SCHEDULED' and m.available_at <= sysutcdatetime()
        """;
    all.put(Sql.READ_SCHEDULED, messages(scheduled, "", "m.available_at, m.seq"));
    all.put(Sql.SIZES_SCHEDULED, sizes(scheduled, "", "m.available_at, m.seq"));
  }

  private String messages(String where, String orElse, String order) {
    String columns =
        Rows.COLUMNS.replace(
            "m.payload",
            "case when m.target is null and datalength(m.payload) <= :bytes then m.payload end as payload");
    return read(columns + ", m.target, convert(bigint, 0) as horizon", where, orElse, order);
  }

  private String sizes(String where, String orElse, String order) {
    return read(
        "m.bucket, case when m.target is null then datalength(m.payload) else 0 end as size",
        where,
        orElse,
        order);
  }

  /**
   * Reads the first messages of each bucket that {@code where} finds. A message moves to BLOCKED
   * when its key is blocked, or else as {@code orElse} says; whether a bucket has blocked keys at
   * all is asked once a bucket.
   *
   * <p>TOP may name columns of an outer query.
   */
  private String read(String columns, String where, String orElse, String order) {
    return sql(
        """
        select ${columns}
        from (
          select o.*, case when exists (select 1 from ${q}${p}blocked_key k ${dirtyKey}
            where k.bucket = o.bucket) then 1 else 0 end as any_blocked
          from openjson(:buckets) with (bucket int '$[0]', most int '$[1]') o
        ) l
        cross apply (
          select top (l.most) ${content},
            case when l.any_blocked = 1 and exists (select 1 from ${q}${p}blocked_key k ${dirtyKey}
              where k.bucket = m.bucket and k.key_hash = m.key_hash) then N'BLOCKED' ${orElse}
            end as target
          from ${q}${p}message m ${seekPast}
          where ${where}
          order by ${order}
        ) m
        order by l.bucket, ${order}
        """
            .replace("${columns}", columns)
            .replace("${content}", Rows.COLUMNS)
            .replace("${orElse}", orElse)
            .replace("${where}", where)
            .replace("${order}", order));
  }

  /**
   * The head is read first by itself: whether it failed before says how many come with it. A key
   * that an operator is just letting go is skipped, and with it the message that he requeues.
   * Nobody else but the holder of the bucket writes BLOCKED rows.
   */
  private String readBlocked() {
    return sql(
        """
        select ${columns}, m.due_bucket, m.due_key, m.due_low_seq
        from (
          select ${columns}, d.bucket as due_bucket, d.message_key as due_key,
            d.low_seq as due_low_seq, d.retry_at, d.key_hash,
            sum(coalesce(datalength(m.payload), 0))
              over (partition by d.bucket order by d.retry_at, d.key_hash, m.seq rows unbounded preceding)
              - coalesce(datalength(m.payload), 0) as bytes_before
          from openjson(:buckets)
            with (bucket int '$[0]', most int '$[1]') l
          cross apply (
            select k.*, count(*) over () as due
            from (
              select top (l.most) k.bucket, k.message_key, k.key_hash, k.low_seq, k.retry_at
              from ${q}${p}blocked_key k ${past}
              where k.bucket = l.bucket and k.halted_by is null and k.retry_at <= sysutcdatetime()
              order by k.retry_at
            ) k
          ) d
          outer apply (
            select top (1) m.seq, case when m.last_failed_at is null then 0 else 1 end as failed
            from ${q}${p}message m ${seekNow}
            where m.bucket = d.bucket and m.status = N'BLOCKED' and m.place = d.key_hash
              and m.seq >= d.low_seq
            order by m.seq
          ) head
          outer apply (
            select top (case when head.failed = 1 or l.most < d.due then 1 else l.most / d.due end)
              ${columns}
            from ${q}${p}message m ${seekNow}
            where m.bucket = d.bucket and m.status = N'BLOCKED' and m.place = d.key_hash
              and m.seq >= head.seq
            order by m.seq
          ) m
        ) m
        where m.bytes_before < :bytes
        order by m.due_bucket, m.retry_at, m.key_hash, m.seq
        """
            .replace("${columns}", Rows.COLUMNS));
  }

  private void addOperators() {
    all.put(
        Sql.DEAD_LETTERS,
        sql(
            "select top (:limit) "
                + Rows.COLUMNS
                + """
                , m.last_error, m.last_failed_at
                from ${q}${p}message m ${deadNow}
                where m.status = N'DEAD' and m.seq > :after
                order by m.seq
                """));
    all.put(
        Sql.LOCK_DEAD_LETTER,
        sql(
            """
            select m.bucket, coalesce(m.partition_key, m.aggregate_id) as [key]
            from ${q}${p}message m with (updlock, forceseek, index (${p}message_dead))
            where m.seq = :seq and m.status = N'DEAD'
            """));
    String dead = " where bucket = :bucket and status = N'DEAD' and place = 0x00 and seq = :seq";
    all.put(
        Sql.REQUEUE,
        sql(
            """
            update ${q}${p}message set
              status = case when :unhalted = 1 then N'BLOCKED' else N'SCHEDULED' end,
              available_at = sysutcdatetime(), attempts = 0, last_failed_at = null
            """
                + dead));
    all.put(Sql.DISCARD, sql("delete from ${q}${p}message" + dead));
    // A scan that locks, of an index without page locks, may lock the table against producers. So
    // this one locks nothing, and counts what is not committed too.
    all.put(
        Sql.STATISTICS,
        sql(
            """
            select
              sum(case when m.status = N'PENDING' then 1 else 0 end) as pending,
              sum(case when m.status = N'SCHEDULED' then 1 else 0 end) as scheduled,
              sum(case when m.status = N'BLOCKED' then 1 else 0 end) as blocked,
              sum(case when m.status = N'DEAD' then 1 else 0 end) as dead,
              (select count(*) from ${q}${p}blocked_key k ${dirty} where k.halted_by is null) as blocked_keys,
              (select count(*) from ${q}${p}blocked_key k ${dirty} where k.halted_by is not null) as halted_keys,
              datediff_big(millisecond, min(case when m.status <> N'DEAD'
                and coalesce(m.available_at, m.created_at) <= sysutcdatetime()
                then coalesce(m.available_at, m.created_at) end), sysutcdatetime()) as oldest_millis
            from ${q}${p}message m ${dirty}
            """));
    all.put(
        Sql.LEASES,
        sql(
            """
            select coalesce(b.relay, N'') as relay, count(*) as buckets,
              min(b.leased_at) as leased_at, max(b.lease_until) as lease_until
            from ${q}${p}bucket b ${dirty}
            where b.owner is not null and b.lease_until > sysutcdatetime()
            group by coalesce(b.relay, N'') order by 1
            """));
  }

  private void addHousekeeping() {
    // Of the bits of @@OPTIONS, 512 is NOCOUNT.
    all.put(
        Sql.SCHEMA_VERSION,
        sql("select version, @@options & 512 as no_count from ${q}${p}schema ${now}"));
    all.put(
        Sql.RENEW,
        sql(
            """
            update ${q}${p}bucket set leased_at = sysutcdatetime(), lease_until = ${later}
            where bucket = :bucket and owner = :owner and token = :token
            """
                .replace("${later}", later(":leaseMillis"))));
    all.put(
        Sql.HALTED_BY_NOTHING,
        sql(
            """
            select k.bucket, k.message_key as [key], k.halted_by
            from ${q}${p}blocked_key k ${now}
            where k.halted_by is not null and not exists (select 1 from ${q}${p}message m ${seekNow}
              where m.bucket = k.bucket and m.status = N'DEAD' and m.place = 0x00 and m.seq = k.halted_by)
            """));
    String numbers =
        IntStream.range(0, Dialect.BUCKETS)
            .mapToObj(n -> "(" + n + ")")
            .collect(Collectors.joining(", "));
    // Whether a row is there is seen although its holder has it locked.
    all.put(
        Sql.RESTORE_BUCKETS,
        sql(
            """
            insert into ${q}${p}bucket (bucket)
            select n.bucket
            from (values ${numbers}) n (bucket)
            where not exists (select 1 from ${q}${p}bucket b ${dirty} where b.bucket = n.bucket)
            """
                .replace("${numbers}", numbers)));
    // Bucket by bucket, so that no producer's rows are looked at.
    all.put(
        Sql.RESTORE_BLOCKED_KEYS,
        sql(
            """
            insert into ${q}${p}blocked_key (bucket, message_key, retry_at, low_seq)
            select :bucket, m.message_key, sysutcdatetime(), m.low_seq
            from (
              select m.place, min(coalesce(m.partition_key, m.aggregate_id)) as message_key,
                min(m.seq) as low_seq
              from ${q}${p}message m ${seekNow}
              where m.bucket = :bucket and m.status = N'BLOCKED'
              group by m.place
            ) m
            where not exists (select 1 from ${q}${p}blocked_key k ${now}
              where k.bucket = :bucket and k.key_hash = m.place)
            """));
  }

  /** A time comes as ISO 8601 text (style 126), which means the same in every language setting. */
  private String append() {
    return sql(
        """
        insert into ${q}${p}message (status, id, aggregate_type, aggregate_id, event_type,
          partition_key, payload, content_type, headers, dedup_key, correlation_id, available_at)
        select case when i.due > sysutcdatetime() then N'SCHEDULED' else N'PENDING' end,
          i.id, i.aggregate_type, i.aggregate_id, i.event_type, i.partition_key, i.payload,
          i.content_type, i.headers, i.dedup_key, i.correlation_id, i.due
        from (
          select ? as id, ? as aggregate_type, ? as aggregate_id, ? as event_type,
            ? as partition_key, ? as payload, ? as content_type, ? as headers, ? as dedup_key,
            ? as correlation_id,
            coalesce(convert(datetime2(6), ?, 126),
              dateadd(microsecond, ?, dateadd(second, ?, sysutcdatetime()))) as due
        ) i
        """);
  }
}
