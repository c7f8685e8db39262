package dev.outbox.store.mysql;

import dev.outbox.spi.store.Finding;
import dev.outbox.store.jdbc.internal.JsonRows;
import dev.outbox.store.jdbc.internal.MessageRows;
import dev.outbox.store.jdbc.internal.SqlAdministration;
import java.time.Duration;
import java.util.List;
import org.jdbi.v3.core.Handle;

/** What people and housekeeping ask of MySQL and MariaDB. */
final class MysqlAdministration extends SqlAdministration {
  private static final String DEAD =
      " where bucket = :bucket and status = 'DEAD' and place = _binary'' and seq = :seq";

  static final String HALTS_KEY =
      """
      exists (select 1 from ${q}${p}blocked_key k force index (primary)
        where k.bucket = m.bucket and k.`key` = ${messageKey} and k.halted_by = m.seq)\
      """;

  private static final String OLD_DEDUP_KEYS =
      """
      select dedup_key from ${q}${p}dedup force index (${p}dedup_age)
      where created_at < utc_timestamp(6) - interval :windowMillis * 1000 microsecond
      order by created_at
      limit :most
      for update skip locked
      """;

  private static final String PURGE_DEDUP =
      """
      delete d from json_table(convert(:rows using utf8mb4), '$[*]' columns (
        name varchar(4090) character set ascii path '$[0]')) l
      straight_join ${q}${p}dedup d force index (primary) on d.dedup_key = ${name}
      """;

  /**
   * A count reads the front of a range for each bucket, and ends at the cap. Each bucket is asked
   * for its first message of each kind, by the order they lie in. One that is not due, which no
   * claim has moved out of the way yet, is left out.
   */
  private static final String STATISTICS =
      """
      select
        ${pending} as pending, ${scheduled} as scheduled, ${blocked} as blocked, ${dead} as dead,
        (select count(*) from (
          select 1 from ${q}${p}blocked_key k force index (${p}blocked_key_due)
          where k.bucket in (${everyBucket}) and k.due_at < timestamp '9999-12-31 00:00:00'
          limit :cap) c) as blocked_keys,
        (select count(*) from (
          select 1 from ${q}${p}blocked_key k force index (${p}blocked_key_due)
          where k.bucket in (${everyBucket}) and k.due_at = timestamp '9999-12-31 00:00:00'
          limit :cap) c) as halted_keys,
        timestampdiff(microsecond, least(
          coalesce(f.pending, f.scheduled), coalesce(f.scheduled, f.pending)), utc_timestamp(6)) div 1000
          as free_millis,
        timestampdiff(microsecond, o.due, utc_timestamp(6)) div 1000 as blocked_millis
      from (
        select min(if(c.pending <= utc_timestamp(6), c.pending, null)) as pending,
          min(if(c.scheduled <= utc_timestamp(6), c.scheduled, null)) as scheduled
        from (
          select ${firstPending} as pending, ${firstScheduled} as scheduled
          from ${q}${p}bucket b force index (primary)
          where b.bucket between 0 and 63 and b.token >= 0) c
      ) f cross join (
        select min(if(h.due <= utc_timestamp(6), h.due, null)) as due
        from (
          select (select coalesce(m.available_at, m.created_at) ${blockedOfKey}) as due
          from (
            select k.bucket, k.`key`, k.low_seq from (
              select k.bucket, k.`key`, k.low_seq from ${q}${p}blocked_key k force index (primary)
              where k.bucket in (${everyBucket}) limit :cap) k
            order by k.low_seq limit ${oldestKeys}) k) h
      ) o
      """
          .replace("${pending}", count("PENDING", " and m.place = _binary''"))
          .replace("${scheduled}", count("SCHEDULED", ""))
          .replace("${blocked}", count("BLOCKED", ""))
          .replace("${dead}", count("DEAD", " and m.place = _binary''"))
          .replace("${firstPending}", first("PENDING", "coalesce(m.available_at, m.created_at)"))
          .replace("${firstScheduled}", first("SCHEDULED", "m.available_at"))
          .replace("${oldestKeys}", Integer.toString(OLDEST_KEYS));

  private static String count(String status, String place) {
    return """
    (select count(*) from (
      select 1 from ${q}${p}message m force index (primary)
      where m.bucket in (${everyBucket}) and m.status = '%s'%s
      limit :cap) c)\
    """
        .formatted(status, place);
  }

  private static String first(String status, String time) {
    return """
    (select %s from ${q}${p}message m force index (primary)
      where m.bucket = b.bucket and m.status = '%s'
      order by m.bucket, m.status, m.place, m.seq limit 1)\
    """
        .formatted(time, status);
  }

  /** {@code :after, :limit}; the next dead letters, in order. */
  private static final String FROM_DEAD =
      """
    from (select d.bucket, d.seq from (%s) d order by d.seq limit :limit) l
    straight_join ${q}${p}message m force index (primary)
      on m.bucket = l.bucket and m.status = 'DEAD' and m.place = _binary'' and m.seq = l.seq
    order by m.seq
    """
          .formatted(MysqlText.deadOfEachBucket("m.bucket, m.seq", "limit :limit"));

  private static final String DEAD_LETTERS =
      """
    select ${columns}, m.last_error, m.last_failed_at,
      case when ${haltsKey} then 1 else 0 end as halts_key
    """
              .replace("${haltsKey}", HALTS_KEY)
          + FROM_DEAD;

  /** In a subquery, or else the list, too, has a locking clause, and the statement is refused. */
  private static final String THESE =
      """
    select m.bucket, ${messageKey} as `key`, m.seq
    from (
      select j.seq
      from json_table(convert(:seqs using utf8mb4), '$[*]' columns (seq bigint path '$[0]')) j
    ) l
    straight_join ${q}${p}message m force index (${p}message_seq) on m.seq = l.seq
    """;

  private static final String LOCK_DEAD_LETTERS = THESE + "where m.status = 'DEAD' for update";

  private static final String NOT_DUE = "status = 'SCHEDULED' and available_at > utc_timestamp(6)";

  private static final String UNDUE = THESE + "where " + NOT_DUE;

  private static final String LOCK_BUCKET =
      "update ${q}${p}bucket set token = token where bucket = :bucket";

  private static final String WITHDRAW =
      """
      update ${q}${p}message force index (${p}message_seq) set status = 'DEAD', place = ''
      where bucket = :bucket and seq = :seq and\
      """
          + " "
          + NOT_DUE;

  /** Only the holder of the bucket deletes rows here: an operator makes them due. */
  private static final String UNHALT =
      """
    update ${q}${p}blocked_key set
      halted_by = null, retry_at = utc_timestamp(6), low_seq = least(low_seq, :lowSeq)
    where bucket = :bucket and `key` = :key and halted_by = :seq
    """;

  private static final String REQUEUE =
      """
    update ${q}${p}message m set
      status = if(:unhalted, 'BLOCKED', 'SCHEDULED'), available_at = utc_timestamp(6),
      place = if(:unhalted, ${messageKey}, cast(utc_timestamp(6) as char(26))),
      attempts = 0, last_failed_at = null
    """
          + DEAD;

  private static final String DISCARD = "delete from ${q}${p}message" + DEAD;

  private static final String EXPIRED =
      """
    select m.seq, case when m.last_failed_at < utc_timestamp(6) - interval :millis * 1000 microsecond
      and not ${haltsKey}
      then 1 else 0 end as expired
    """
              .replace("${haltsKey}", HALTS_KEY)
          + FROM_DEAD;

  private static final String LEASES =
      """
    select coalesce(b.worker, '') as worker, count(*) as buckets,
      min(b.leased_at) as leased_at, max(b.lease_until) as lease_until
    from ${q}${p}bucket b
    where b.claim_id is not null and b.lease_until > utc_timestamp(6)
    group by coalesce(b.worker, '') order by 1
    """;

  private static final String HALTED_BY_NOTHING =
      """
    select k.bucket, k.`key`, k.halted_by from ${q}${p}blocked_key k
    where k.halted_by is not null and not exists (
      select 1 from ${q}${p}message m force index (${p}message_seq)
      where m.seq = k.halted_by and m.status = 'DEAD')
    """;

  private static final String RESTORE_BUCKETS =
      """
    insert into ${q}${p}bucket (bucket)
    with recursive n as (select 0 as n union all select n + 1 from n where n < 63)
    select n from n where n not in (select bucket from ${q}${p}bucket)
    on duplicate key update token = token
    """;

  private static final String RESTORE_BLOCKED_KEYS =
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
    """;

  /** With the token, or else the index alone is read, and from end to end. */
  private static final String BLOCKED_BUCKETS =
      """
        select b.bucket from ${q}${p}bucket b force index (primary)
        where b.bucket between 0 and 63 and b.token >= 0
          and (select 1 from ${q}${p}message m force index (primary)
            where m.bucket = b.bucket and m.status = 'BLOCKED' limit 1) is not null
        """;

  private static final String PURGE_ARCHIVE =
      """
      delete from ${q}${p}archive_message
      where archived_at < utc_timestamp(6) - interval :millis * 1000 microsecond
      order by archived_at, seq limit :most
      """;

  /** So many archived messages are deleted in one transaction. */
  private static final int MOST_ARCHIVED_PURGED = 1_000;

  MysqlAdministration(MessageRows rows, MysqlArchive archive) {
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
    return "replace into ${q}${p}pause (aggregate_type, who, reason) values (:type, :who, :reason)";
  }

  @Override
  public List<Finding> findings(Handle handle) {
    return ServerSettings.findings(handle, ServerSettings.OLD);
  }

  @Override
  public List<Integer> blockedBuckets(Handle handle) {
    return handle.createQuery(BLOCKED_BUCKETS).mapTo(Integer.class).list();
  }

  @Override
  public boolean purgeDedup(Handle handle, Duration window) {
    List<String> old =
        handle
            .createQuery(OLD_DEDUP_KEYS)
            .bind("windowMillis", window.toMillis())
            .bind("most", PURGE)
            .mapTo(String.class)
            .list();
    if (!old.isEmpty()) {
      int ignored =
          handle
              .createUpdate(PURGE_DEDUP)
              .bind("rows", JsonRows.of(old, key -> List.of(MysqlText.hex(key))))
              .execute();
    }
    return old.size() == PURGE;
  }

  @Override
  public boolean keepArchive(Handle handle, Duration retention) {
    return deleteOld(handle, PURGE_ARCHIVE, retention.toMillis(), MOST_ARCHIVED_PURGED);
  }
}
