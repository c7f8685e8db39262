package dev.outbox.store.sqlserver;

import dev.outbox.store.core.internal.Database;
import dev.outbox.store.jdbc.internal.MessageRows;
import dev.outbox.store.jdbc.internal.SqlAdministration;
import java.time.Duration;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;

/** What people and housekeeping ask of SQL Server. */
final class SqlServerAdministration extends SqlAdministration {
  private static final String DEAD =
      " where bucket = :bucket and status = N'DEAD' and place = 0x00 and seq = :seq";

  private static final String EVERY_BUCKET =
      IntStream.range(0, Database.BUCKETS)
          .mapToObj(n -> "(" + n + ")")
          .collect(Collectors.joining(", "));

  static final String BUCKETS = "(select b.bucket from ${q}${p}bucket b ${dirty})";

  private static final String KEY_DUE =
      "blocked_key m with (nolock, forceseek, index (${p}blocked_key_due))";

  static final String HALTS_KEY =
      """
      exists (select 1 from ${q}${p}blocked_key k ${dirty}
        where k.bucket = m.bucket and k.halted_by = m.seq)\
      """;

  private static final String PURGE_DEDUP =
      """
      delete top (:most) from ${q}${p}dedup ${past}
      where created_at < ${ago}
      """
          .replace("${ago}", SqlServerText.later(":millis"));

  /**
   * A count reads the front of a range for each bucket, and ends at the cap. Each bucket is asked
   * for its first message of each kind, by an index. One that is not due, which no claim has moved
   * out of the way yet, is left out.
   *
   * <p>A scan that locks, of an index without page locks, may lock the table against producers. So
   * this locks nothing, and counts what is not committed too.
   */
  private static final String STATISTICS =
      """
      select
        ${pending} as pending, ${scheduled} as scheduled, ${blocked} as blocked,
        (select count(*) from (
          select top (:cap) m.seq from ${q}${p}message m
          with (nolock, index (${p}message_dead)) where m.status = N'DEAD') c) as dead,
        ${blockedKeys} as blocked_keys, ${haltedKeys} as halted_keys,
        (select datediff_big(millisecond, min(f.due), sysutcdatetime())
          from ${buckets} n
          cross apply (
            select * from (
              select top (1) coalesce(m.available_at, m.created_at) as due
              from ${q}${p}message m ${dirtySeek}
              where m.bucket = n.bucket and m.status = N'PENDING' and m.place = 0x00
              order by m.seq) p
            union all
            select * from (
              select top (1) m.available_at as due
              from ${q}${p}message m with (nolock, forceseek, index (${p}message_scheduled))
              where m.bucket = n.bucket and m.status = N'SCHEDULED'
              order by m.available_at, m.seq) s) f
          where f.due <= sysutcdatetime()) as free_millis,
        (select datediff_big(millisecond, min(f.due), sysutcdatetime())
          from (
            select top (${oldestKeys}) k.bucket, k.key_hash, k.low_seq
            from (select top (:cap) k.bucket, k.key_hash, k.low_seq
              from ${q}${p}blocked_key k ${dirty}) k
            order by k.low_seq) k
          cross apply (
            select top (1) coalesce(m.available_at, m.created_at) as due
            from ${q}${p}message m ${dirtySeek}
            where m.bucket = k.bucket and m.status = N'BLOCKED' and m.place = k.key_hash
              and m.seq >= k.low_seq
            order by m.seq) f
          where f.due <= sysutcdatetime()) as blocked_millis
      """
          .replace("${pending}", count("message m ${dirtySeek}", "m.status = N'PENDING'"))
          .replace(
              "${scheduled}",
              count(
                  "message m with (nolock, forceseek, index (${p}message_scheduled))",
                  "m.status = N'SCHEDULED'"))
          .replace("${blocked}", count("message m ${dirtySeek}", "m.status = N'BLOCKED'"))
          .replace("${blockedKeys}", count(KEY_DUE, "m.halted_by is null"))
          .replace("${haltedKeys}", count(KEY_DUE, "m.halted_by is not null"))
          .replace("${buckets}", BUCKETS)
          .replace("${dirtySeek}", "with (nolock, forceseek, index (1))")
          .replace("${oldestKeys}", Integer.toString(OLDEST_KEYS));

  private static String count(String table, String where) {
    return """
    (select count(*) from (
      select top (:cap) m.bucket from ${buckets} n
      cross apply (
        select top (:cap) m.bucket from ${q}${p}%s
        where m.bucket = n.bucket and %s) m) c)\
    """
        .formatted(table, where);
  }

  private static final String DEAD_LETTERS =
      "select top (:limit) "
          + MessageRows.COLUMNS
          + """
        , m.last_error, m.last_failed_at,
          case when ${haltsKey} then 1 else 0 end as halts_key
        from ${q}${p}message m ${deadNow}
        where m.status = N'DEAD' and m.seq > :after
        order by m.seq
        """
              .replace("${haltsKey}", HALTS_KEY);

  private static final String LOCK_DEAD_LETTERS =
      """
    select m.bucket, ${messageKey} as [key], m.seq
    from openjson(:seqs) with (seq bigint '$[0]') l
    inner join ${q}${p}message m with (updlock, forceseek, index (${p}message_dead))
      on m.seq = l.seq
    where m.status = N'DEAD'
    option (loop join, force order)
    """;

  private static final String SCHEDULED =
      "m.status = N'SCHEDULED' and m.place = 0x00 and m.seq = ${seq} and m.available_at > ${utc}";

  private static final String UNDUE =
      """
      select m.bucket, m.message_key as [key], m.seq
      from openjson(:seqs) with (seq bigint '$[0]') l
      cross apply (
        select m.bucket, ${messageKey} as message_key, m.seq
        from ${q}${p}message m ${dirtyKey}
        where m.bucket in (${numbers}) and ${scheduled}) m
      """
          .replace("${numbers}", EVERY_BUCKET.replaceAll("[()]", ""))
          .replace("${scheduled}", SCHEDULED.replace("${seq}", "l.seq"));

  /** It really changes the row, as a settle does. */
  private static final String LOCK_BUCKET =
      "update ${q}${p}bucket set settles = settles + 1 where bucket = :bucket";

  private static final String WITHDRAW =
      "update ${q}${p}message set status = N'DEAD' where bucket = :bucket and "
          + SCHEDULED.replace("m.", "").replace("${seq}", ":seq");

  /** Only the holder of the bucket deletes rows here: an operator makes them due. */
  private static final String UNHALT =
      """
    update ${q}${p}blocked_key set
      halted_by = null, retry_at = sysutcdatetime(),
      low_seq = case when low_seq < :lowSeq then low_seq else :lowSeq end
    where bucket = :bucket and key_hash = ${key} and halted_by = :seq
    """;

  private static final String REQUEUE =
      """
    update ${q}${p}message set
      status = case when :unhalted = 1 then N'BLOCKED' else N'SCHEDULED' end,
      available_at = sysutcdatetime(), attempts = 0, last_failed_at = null
    """
          + DEAD;

  private static final String DISCARD = "delete from ${q}${p}message" + DEAD;

  private static final String EXPIRED =
      """
    select top (:limit) m.seq, case when m.last_failed_at < ${ago}
      and not ${haltsKey}
      then 1 else 0 end as expired
    from ${q}${p}message m ${deadNow}
    where m.status = N'DEAD' and m.seq > :after
    order by m.seq
    """
          .replace("${ago}", SqlServerText.later("-1 * :millis"))
          .replace("${haltsKey}", HALTS_KEY);

  private static final String LEASES =
      """
    select coalesce(b.worker, N'') as worker, count(*) as buckets,
      min(b.leased_at) as leased_at, max(b.lease_until) as lease_until
    from ${q}${p}bucket b ${dirty}
    where b.claim_id is not null and b.lease_until > ${utc}
    group by coalesce(b.worker, N'') order by 1
    """;

  private static final String HALTED_BY_NOTHING =
      """
    select k.bucket, k.message_key as [key], k.halted_by
    from ${q}${p}blocked_key k ${now}
    where k.halted_by is not null and not exists (select 1 from ${q}${p}message m ${seekNow}
      where m.bucket = k.bucket and m.status = N'DEAD' and m.place = 0x00 and m.seq = k.halted_by)
    """;

  /** Whether a row is there is seen although its holder has it locked. */
  private static final String RESTORE_BUCKETS =
      """
    insert into ${q}${p}bucket (bucket)
    select n.bucket
    from (values ${numbers}) n (bucket)
    where not exists (select 1 from ${q}${p}bucket b ${dirty} where b.bucket = n.bucket)
    """
          .replace("${numbers}", EVERY_BUCKET);

  /** Bucket by bucket, so that no producer's rows are looked at. */
  private static final String RESTORE_BLOCKED_KEYS =
      """
    insert into ${q}${p}blocked_key (bucket, message_key, retry_at, low_seq)
    select :bucket, m.message_key, sysutcdatetime(), m.low_seq
    from (
      select m.place, min(${messageKey}) as message_key,
        min(m.seq) as low_seq
      from ${q}${p}message m ${seekNow}
      where m.bucket = :bucket and m.status = N'BLOCKED'
      group by m.place
    ) m
    where not exists (select 1 from ${q}${p}blocked_key k ${now}
      where k.bucket = :bucket and k.key_hash = m.place)
    """;

  /** By the hash, because texts are compared without trailing spaces. */
  private static final String TYPE_HASH =
      "type_hash = hashbytes('SHA2_256', convert(varbinary(1020), convert(nvarchar(510), :type)))";

  /** HOLDLOCK also locks where a row would be. */
  private static final String PAUSE =
      """
      insert into ${q}${p}pause (aggregate_type, who, reason)
      select :type, :who, :reason
      where not exists (select 1 from ${q}${p}pause s with (updlock, holdlock) where s.${hash})
      """
          .replace("${hash}", TYPE_HASH);

  /** How long relays wait for somebody who is just pausing something. */
  private static final int PAUSES_SECONDS = 2;

  private static final String PAUSES =
      "select s.aggregate_type, s.paused_at, s.who, s.reason from ${q}${p}pause s ${now}";

  private static final String RESUME = "delete from ${q}${p}pause where " + TYPE_HASH;

  /** So many are deleted in one transaction. */
  private static final int MOST_ARCHIVED_PURGED = 1_000;

  SqlServerAdministration(MessageRows rows, SqlServerArchive archive) {
    super(
        new Texts(
            DEAD_LETTERS,
            LOCK_DEAD_LETTERS,
            UNDUE,
            LOCK_BUCKET,
            WITHDRAW,
            UNHALT,
            REQUEUE,
            DISCARD,
            EXPIRED,
            STATISTICS,
            LEASES,
            HALTED_BY_NOTHING,
            RESTORE_BUCKETS,
            RESTORE_BLOCKED_KEYS),
        rows,
        archive);
  }

  @Override
  protected String pause() {
    return PAUSE;
  }

  @Override
  protected Query askForPauses(Handle handle) {
    return handle.createQuery(PAUSES).setQueryTimeout(PAUSES_SECONDS);
  }

  @Override
  protected String resume() {
    return RESUME;
  }

  @Override
  public boolean purgeDedup(Handle handle, Duration window) {
    return deleteOld(handle, PURGE_DEDUP, -window.toMillis(), PURGE);
  }

  @Override
  public boolean keepArchive(Handle handle, Duration retention) {
    return deleteOld(handle, SqlServerArchive.PURGE, -retention.toMillis(), MOST_ARCHIVED_PURGED);
  }
}
