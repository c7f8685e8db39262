package dev.outbox.store.postgres;

import dev.outbox.store.core.Names;
import dev.outbox.store.jdbc.Rows;
import dev.outbox.store.jdbc.Sql;
import java.util.EnumMap;
import java.util.Map;

/**
 * All statements, with the table names filled in. Named parameters are JDBI's.
 *
 * <p>A status is always a literal: with a parameter a generic plan could not use the partial
 * indexes. Whether there is something is asked by a scalar subquery in the order of the index that
 * is meant: a correlated EXISTS may be planned as one hash of all that is due, and without the
 * order another index looks as good as a partial one while the table is small. A read in order says
 * {@code seq + 0}, as the partial indexes do: the primary key, which has {@code seq} alone, is then
 * for finding rows by their number and for nothing else. Time is {@code statement_timestamp()}:
 * {@code now()} is the transaction's start, and {@code clock_timestamp()} cannot be an index
 * condition.
 */
final class PostgresStatements {

  /**
   * A lease counts while it lasts; one that lies too far ahead is from before the clock jumped
   * back.
   */
  private static final String FREE =
      """
      (b.lease_until is null
        or b.lease_until <= clock_timestamp()
        or b.leased_at - clock_timestamp() > b.lease_until - b.leased_at)
      """;

  /** Whether a bucket has SCHEDULED messages and blocked keys that are due. */
  private static final String DUE =
      """
      (select true from ${q}${p}message m
        where m.bucket = ${bucket} and m.status = 'SCHEDULED'
          and m.available_at <= statement_timestamp()
        order by m.available_at limit 1) is not null as scheduled,
      (select true from ${q}${p}blocked_key k
        where k.bucket = ${bucket} and k.halted_by is null
          and k.retry_at <= statement_timestamp()
        order by k.retry_at limit 1) is not null as blocked
      """;

  /**
   * The buckets with work (OFFSET 0: each is asked once, and not again by the condition); of them
   * the free ones, longest unserved first, as many as are a fair share among the workers that hold
   * leases now. SKIP LOCKED and LIMIT apply to the rows that are locked, in the order they are
   * sorted, so two that lease at once both get some.
   */
  final String lease;

  /** Those that all databases have in the same form. */
  final Map<Sql, String> all = new EnumMap<>(Sql.class);

  final String lockHeld;
  final String release;
  final String readBlocked;
  final String advance;
  final String free;
  final String forgetMark;
  final String forgetMarks;
  final String sequenceLags;
  final String lockSequence;
  final String catchUpSequence;
  final String purgeDedup;
  final String append;
  final String appendOne;
  final String appendWithDedup;
  final String appendOneWithDedup;

  PostgresStatements(Names names) {
    lease =
        names.fill(
            """
            with now as materialized (
            """
                + HISTORY
                + """
            ), seen as materialized (
              select b.ctid as place, b.bucket, b.relay, b.lease_until > statement_timestamp() as leased, """
                + FREE
                + """
                as free, b.low_water_history = now.history and b.low_water <= now.next as marked, b.low_water
              from ${q}${p}bucket b cross join now where b.ctid >= '(0,0)'
            ), work as materialized (
              select * from (
                select f.place, f.marked,
                  (select true from ${q}${p}message m
                    where m.bucket = f.bucket and m.status = 'PENDING'
                      and m.seq + 0 >= case when f.marked then f.low_water else 0 end
                    order by m.seq + 0 limit 1) is not null as pending,
            """
                + DUE.replace("${bucket}", "f.bucket")
                + """
                from seen f
                where f.free
                offset 0
              ) w
              where w.pending or w.scheduled or w.blocked
            ), picked as materialized (
              select w.place, w.marked, w.scheduled, w.blocked, b.served_at
              from work w join ${q}${p}bucket b on b.ctid = w.place
              where """
                + FREE
                + """
              order by b.served_at, b.bucket
              limit (
                select greatest(1, least(:most, ceil(
                  ((select count(*) from work) + count(*))::numeric
                  / (1 + count(distinct b.relay) filter (where b.relay <> :relay)))
                  - count(*) filter (where b.relay = :relay)))
                from seen b where b.leased)
              for no key update of b skip locked
            )
            update ${q}${p}bucket b set
              token = b.token + 1,
              owner = :owner,
              relay = :relay,
              leased_at = statement_timestamp(),
              lease_until = statement_timestamp() + :leaseMillis * interval '1 millisecond',
              takeovers = case when b.owner is null then b.takeovers
                when b.takeovers >= 2 then 0 else b.takeovers + 1 end,
              singles = case when b.owner is not null and b.takeovers >= 2 then :mostMessages else b.singles end,
              low_water = case when b.owner is null and p.marked then b.low_water else 0 end,
              next_low_water = case when b.owner is null and p.marked then b.next_low_water else 0 end,
              low_water_history = now.history
            from picked p cross join now
            where b.ctid = p.place
            returning b.bucket, b.token, b.low_water, b.next_low_water,
              b.next_low_water_txid::text::bigint as next_low_water_txid,
              b.low_water_history, p.scheduled, p.blocked, p.served_at, b.singles
            """);
    all.put(
        Sql.RENEW,
        names.fill(
            """
            update ${q}${p}bucket set
              leased_at = statement_timestamp(),
              lease_until = statement_timestamp() + :leaseMillis * interval '1 millisecond'
            where bucket = :bucket and owner = :owner and token = :token
            """));
    // The transaction's id is drawn here, after the read of what is settled.
    lockHeld =
        names.fill(
            """
            with now as materialized (
            """
                + HISTORY
                + """
            )
            select b.bucket,
              (extract(epoch from b.lease_until - clock_timestamp()) * 1000)::bigint as left_millis,
              pg_current_xact_id()::text::bigint as txid,
              case when l.low_water <= now.next then now.history else '' end as history,
            """
                + DUE.replace("${bucket}", "b.bucket")
                + """
            from ${q}${p}bucket b
            join unnest(:buckets, :tokens, :lowWater) l (bucket, token, low_water) on l.bucket = b.bucket
            cross join now
            where b.owner = :owner and b.token = l.token
            order by b.bucket
            for no key update of b
            """);
    release =
        names.fill(
            """
            update ${q}${p}bucket b set
              owner = null, leased_at = null, lease_until = null,
              served_at = case when l.keeps_turn then b.served_at else statement_timestamp() end,
              takeovers = case when l.settled then 0 else b.takeovers end,
              singles = greatest(0, b.singles - l.decided),
              low_water = l.low_water, next_low_water = l.next_low_water,
              next_low_water_txid = l.txid::text::xid8
            from unnest(:buckets, :decided, :settled, :keepsTurn, :lowWater, :nextLowWater, :txids)
              l (bucket, decided, settled, keeps_turn, low_water, next_low_water, txid)
            where b.bucket = l.bucket and b.owner = :owner
            """);
    Read pending =
        read(
            names,
            "when m.available_at > statement_timestamp() then 'SCHEDULED'",
            "m.status = 'PENDING' and m.seq + 0 >= l.low_water",
            "m.seq + 0");
    all.put(Sql.READ_PENDING, pending.messages());
    all.put(Sql.SIZES_PENDING, pending.sizes());
    Read scheduled =
        read(
            names,
            "",
            "m.status = 'SCHEDULED' and m.available_at <= statement_timestamp()",
            "m.available_at, m.seq");
    all.put(Sql.READ_SCHEDULED, scheduled.messages());
    all.put(Sql.SIZES_SCHEDULED, scheduled.sizes());
    // The head is read first by itself: whether it failed before says how many come with it.
    readBlocked =
        names.fill(
            """
            select * from (
            select m.*, d.bucket as due_bucket, d.key as due_key, d.low_seq as due_low_seq, d.retry_at,
              sum(coalesce(octet_length(m.payload), 0))
                over (partition by d.bucket order by d.retry_at, d.key, m.seq)
                - coalesce(octet_length(m.payload), 0) as bytes_before
            from unnest(:buckets, :lowWater, :most) l (bucket, low_water, most)
            cross join lateral (
              select k.*, count(*) over () as due
              from (
                select * from ${q}${p}blocked_key k
                where k.bucket = l.bucket and k.halted_by is null and k.retry_at <= statement_timestamp()
                order by k.retry_at
                limit l.most
              ) k
            ) d
            left join lateral (
              select m.seq, m.last_failed_at is not null as failed
              from ${q}${p}message m
              where m.bucket = d.bucket and m.status = 'BLOCKED'
                and coalesce(m.partition_key, m.aggregate_id) = d.key and m.seq + 0 >= d.low_seq
              order by m.seq + 0
              limit 1
            ) head on true
            left join lateral (
              select
            """
                + Rows.COLUMNS
                + """
              from ${q}${p}message m
              where m.bucket = d.bucket and m.status = 'BLOCKED'
                and coalesce(m.partition_key, m.aggregate_id) = d.key and m.seq + 0 >= head.seq
              order by m.seq + 0
              limit case when head.failed then 1 else greatest(1, l.most / d.due) end
            ) m on true
            ) due
            where bytes_before < :bytes
            order by due_bucket, retry_at, due_key, seq
            """);
    all.put(
        Sql.MOVE_TO_BLOCKED,
        withIds(
            names,
            "update ${q}${p}message set status = 'BLOCKED'"
                + " where bucket = :bucket and seq = any(:seqs) and ${ids} and status in ('PENDING', 'SCHEDULED')"));
    all.put(
        Sql.MOVE_TO_SCHEDULED,
        withIds(
            names,
            "update ${q}${p}message set status = 'SCHEDULED'"
                + " where bucket = :bucket and seq = any(:seqs) and ${ids} and status = 'PENDING'"));
    all.put(
        Sql.COUNT,
        withIds(
            names,
            "update ${q}${p}message set attempts = greatest(0, least(attempts, 2147483646) + :by)"
                + " where bucket = :bucket and seq = any(:seqs) and ${ids}"
                + " and status in ('PENDING', 'SCHEDULED', 'BLOCKED')"));
    all.put(
        Sql.DELETE,
        withIds(
            names,
            "delete from ${q}${p}message where bucket = :bucket and seq = any(:seqs) and ${ids}"));
    all.put(
        Sql.FAIL,
        names.fill(
            """
            update ${q}${p}message set
              status = :status, attempts = :attemptsAfter, last_error = :error,
              last_failed_at = statement_timestamp()
            where bucket = :bucket and seq = :seq and id = :id and attempts = :attempts
              and available_at is not distinct from cast(:availableAt as timestamp) at time zone 'UTC'
              and status in ('PENDING', 'SCHEDULED', 'BLOCKED')
            """));
    all.put(
        Sql.BLOCK,
        names.fill(
            """
            insert into ${q}${p}blocked_key as k (bucket, key, retry_at, halted_by, low_seq)
            values (:bucket, :key, statement_timestamp() + :delayMillis * interval '1 millisecond',
              case when :halted then :seq end, :lowSeq)
            on conflict (bucket, key) do update set
              retry_at = excluded.retry_at,
              halted_by = coalesce(excluded.halted_by, k.halted_by),
              low_seq = least(k.low_seq, excluded.low_seq)
            """));
    all.put(
        Sql.LOWER,
        names.fill(
            "update ${q}${p}blocked_key set low_seq = :seq"
                + " where bucket = :bucket and key = :key and low_seq > :seq"));
    advance =
        names.fill(
            """
            update ${q}${p}blocked_key k set
              retry_at = statement_timestamp(),
              low_seq = coalesce(
                (select min(m.seq + 0) from ${q}${p}message m
                 where m.bucket = k.bucket and m.status = 'BLOCKED'
                   and coalesce(m.partition_key, m.aggregate_id) = k.key and m.seq + 0 >= k.low_seq),
                k.low_seq)
            where k.bucket = :bucket and k.key = :key and k.halted_by is null
            """);
    free =
        names.fill(
            """
            delete from ${q}${p}blocked_key k
            where k.bucket = :bucket and k.key = :key and k.halted_by is null
              and not exists (select from ${q}${p}message m
                where m.bucket = k.bucket and m.status = 'BLOCKED'
                  and coalesce(m.partition_key, m.aggregate_id) = k.key and m.seq + 0 >= k.low_seq)
            """);
    all.put(
        Sql.DEAD_LETTERS,
        names.fill(
            "select "
                + Rows.COLUMNS
                + ", m.last_error, m.last_failed_at from ${q}${p}message m"
                + " where m.status = 'DEAD' and m.seq + 0 > :after order by m.seq + 0 limit :limit"));
    all.put(
        Sql.LOCK_DEAD_LETTER,
        names.fill(
            "select bucket, coalesce(partition_key, aggregate_id) as key from ${q}${p}message"
                + " where seq = :seq and status = 'DEAD' for update"));
    all.put(
        Sql.DISCARD,
        names.fill("delete from ${q}${p}message where bucket = :bucket and seq = :seq"));
    // Only the holder of the bucket deletes rows here: an operator makes them due.
    all.put(
        Sql.UNHALT,
        names.fill(
            """
            update ${q}${p}blocked_key set
              halted_by = null, retry_at = statement_timestamp(), low_seq = least(low_seq, :lowSeq)
            where bucket = :bucket and key = :key and halted_by = :seq
            """));
    all.put(
        Sql.REQUEUE,
        names.fill(
            """
            update ${q}${p}message set
              status = case when :unhalted then 'BLOCKED' else 'SCHEDULED' end,
              available_at = statement_timestamp(), attempts = 0, last_failed_at = null
            where bucket = :bucket and seq = :seq
            """));
    all.put(
        Sql.STATISTICS,
        names.fill(
            """
            select
              count(*) filter (where status = 'PENDING') as pending,
              count(*) filter (where status = 'SCHEDULED') as scheduled,
              count(*) filter (where status = 'BLOCKED') as blocked,
              count(*) filter (where status = 'DEAD') as dead,
              (select count(*) from ${q}${p}blocked_key where halted_by is null) as blocked_keys,
              (select count(*) from ${q}${p}blocked_key where halted_by is not null) as halted_keys,
              (extract(epoch from statement_timestamp() - min(coalesce(available_at, created_at))
                filter (where status <> 'DEAD'
                  and coalesce(available_at, created_at) <= statement_timestamp())) * 1000)::bigint as oldest_millis
            from ${q}${p}message
            """));
    all.put(
        Sql.LEASES,
        names.fill(
            """
            select coalesce(b.relay, '') as relay, count(*) as buckets,
              min(b.leased_at) as leased_at, max(b.lease_until) as lease_until
            from ${q}${p}bucket b
            where b.ctid >= '(0,0)' and b.owner is not null and b.lease_until > statement_timestamp()
            group by coalesce(b.relay, '') order by 1
            """));
    all.put(
        Sql.RESTORE_BUCKETS,
        names.fill(
            // On a row that is there the conflict would wait for whoever holds it.
            """
            insert into ${q}${p}bucket (bucket) select n from generate_series(0, 63) n
            where not exists (select * from ${q}${p}bucket b where b.bucket = n)
            on conflict (bucket) do nothing
            """));
    String sequence = "pg_get_serial_sequence('${q}${p}message', 'seq')::regclass";
    // A bucket that is held has its turn again an hour later.
    forgetMark =
        names.fill(
            FORGET_MARK
                + " and bucket = (select bucket from ${q}${p}bucket where bucket = :bucket"
                + " for update skip locked)");
    forgetMarks = names.fill(FORGET_MARK);
    // Not after one from the upper half: it would leave no room for others.
    String lag =
        """
        from (select max(m.seq) as seq from ${q}${p}message m where m.seq < 4611686018427387904) m
        where m.seq > coalesce(pg_sequence_last_value(${sequence}), 0)
        """
            .replace("${sequence}", sequence);
    sequenceLags = names.fill("select true " + lag);
    // One at a time, or a stale value could set the sequence back.
    lockSequence = names.fill("select pg_advisory_xact_lock(" + sequence + "::oid::bigint)");
    catchUpSequence = names.fill("select setval(" + sequence + ", m.seq) " + lag);
    // From key to key by the index: a key may have a million messages.
    all.put(
        Sql.RESTORE_BLOCKED_KEYS,
        names.fill(
            """
            with recursive first as (
              (select m.seq, coalesce(m.partition_key, m.aggregate_id) as key from ${q}${p}message m
                where m.bucket = :bucket and m.status = 'BLOCKED'
                order by coalesce(m.partition_key, m.aggregate_id), m.seq + 0 limit 1)
              union all
              select n.* from first f cross join lateral (
                select m.seq, coalesce(m.partition_key, m.aggregate_id) from ${q}${p}message m
                where m.bucket = :bucket and m.status = 'BLOCKED'
                  and coalesce(m.partition_key, m.aggregate_id) > f.key
                order by coalesce(m.partition_key, m.aggregate_id), m.seq + 0 limit 1) n
            )
            insert into ${q}${p}blocked_key as k (bucket, key, retry_at, low_seq)
            select :bucket, f.key, statement_timestamp(), f.seq from first f
            where not exists (select from ${q}${p}blocked_key b
              where b.bucket = :bucket and b.key = f.key and b.low_seq <= f.seq)
            on conflict (bucket, key) do update set low_seq = least(k.low_seq, excluded.low_seq)
            """));
    all.put(
        Sql.SCHEMA_VERSION,
        names.fill(
            "select version, getdatabaseencoding() as encoding from ${q}${p}schema where ctid >= '(0,0)'"));
    all.put(
        Sql.HALTED_BY_NOTHING,
        names.fill(
            """
            select k.bucket, k.key, k.halted_by from ${q}${p}blocked_key k
            where k.ctid >= '(0,0)' and k.halted_by is not null and not exists (
              select from ${q}${p}message m where m.status = 'DEAD' and m.seq = k.halted_by)
            """));
    purgeDedup =
        names.fill(
            """
            delete from ${q}${p}dedup where dedup_key in (
              select dedup_key from ${q}${p}dedup
              where created_at < statement_timestamp() - :windowMillis * interval '1 millisecond'
              order by created_at
              limit :most
              for update skip locked)
            """);
    append = append(names, MANY);
    appendOne = append(names, ONE);
    appendWithDedup = appendWithDedup(names, MANY);
    appendOneWithDedup = appendWithDedup(names, ONE);
  }

  /**
   * With the ids that the rows must have, as a table that is hashed once. An array of a parameter
   * is searched from its beginning for each row, which for 500 messages took longer than the
   * deleting; {@code is true} keeps the planner from making a join of it.
   */
  private static String withIds(Names names, String sql) {
    return names.fill(sql.replace("${ids}", "(id in (select unnest(:ids))) is true"));
  }

  private static String append(Names names, String input) {
    return names.fill(input + insert("") + " order by i.position");
  }

  /**
   * Keys in order, so that two that append the same ones do not deadlock. An old key that was not
   * purged yet is taken over; one inside the window stays as it is and is not returned.
   */
  private static String appendWithDedup(Names names, String input) {
    return names.fill(
        input
            + """
            , fresh as (
              insert into ${q}${p}dedup as d (dedup_key, created_at)
              select distinct i.dedup_key, statement_timestamp() from input i
              where i.dedup_key is not null
              order by i.dedup_key
              on conflict (dedup_key) do update set created_at = excluded.created_at
                where d.created_at < excluded.created_at - ? * interval '1 millisecond'
              returning d.dedup_key
            ), duplicate as (
              select i.id, i.position from input i
              where i.dedup_key is not null
                and (i.dedup_key not in (select f.dedup_key from fresh f)
                  or i.position > (select min(j.position) from input j where j.dedup_key = i.dedup_key))
            ), stored as (
            """
            + insert("where i.position not in (select d.position from duplicate d)")
            + """
             order by i.position
            )
            select id from duplicate
            """);
  }

  /** This transaction is no producer: its own id, where it has one, does not hold the horizon. */
  private static final String HORIZON =
      """
      pg_snapshot_xmin(pg_current_snapshot())::text::bigint + coalesce(
        (pg_snapshot_xmin(pg_current_snapshot()) = pg_current_xact_id_if_assigned())::int, 0)
      """;

  /** Also the one that a holder remembers and will store: without its history it does not count. */
  private static final String FORGET_MARK =
      "update ${q}${p}bucket set low_water = 0, next_low_water = 0, low_water_history = ''"
          + " where ctid >= '(0,0)'";

  /**
   * What sequences and transactions' ids belong to: the file of the sequence, which a restart of it
   * replaces, on this start of the server. A standby that was promoted, a restored backup and an
   * older copy of the disk may give numbers again that were given already, and each of them is
   * another start. And the sequence that comes next: a mark beyond it is from before the sequence
   * was set back.
   */
  private static final String HISTORY =
      """
      select pg_relation_filenode(s.seq) || ' ' || extract(epoch from pg_postmaster_start_time()) as history,
        1 + coalesce(pg_sequence_last_value(s.seq), 0) as next
      from (select pg_get_serial_sequence('${q}${p}message', 'seq')::regclass as seq offset 0) s
      """;

  /** One array a column, so that a statement with any number of messages is the same statement. */
  private static final String MANY =
      """
      with input as materialized (
        select * from unnest(?::uuid[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bytea[],
          ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[]) with ordinality
        as i (id, aggregate_type, aggregate_id, event_type, partition_key, payload,
          content_type, headers, dedup_key, correlation_id, due_at, due_after_micros, position)
      )
      """;

  /** The same for one message, which is what most transactions have: twice as fast. */
  private static final String ONE =
      """
      with input as (
        select ?::uuid as id, ?::text as aggregate_type, ?::text as aggregate_id,
          ?::text as event_type, ?::text as partition_key, ?::bytea as payload,
          ?::text as content_type, ?::text as headers, ?::text as dedup_key,
          ?::text as correlation_id, ?::text as due_at, ?::bigint as due_after_micros,
          1 as position
      )
      """;

  private static String insert(String where) {
    return """
        insert into ${q}${p}message (status, id, aggregate_type, aggregate_id, event_type,
          partition_key, payload, content_type, headers, dedup_key, correlation_id, available_at)
        select case when i.due > statement_timestamp() then 'SCHEDULED' else 'PENDING' end,
          i.id, i.aggregate_type, i.aggregate_id, i.event_type,
          i.partition_key, i.payload, i.content_type, i.headers::json, i.dedup_key, i.correlation_id, i.due
        from (
          select i.*, coalesce(i.due_at::timestamptz,
            statement_timestamp() + i.due_after_micros * interval '1 microsecond') as due
          from input i
        ) i
        """
        + where;
  }

  /** The first messages of each bucket, and the sizes of their payloads. */
  private record Read(String messages, String sizes) {}

  /**
   * Reads the first messages of each bucket that {@code where} finds, in order. A message moves to
   * BLOCKED when its key is blocked, or else as {@code orElse} says; the content of those that are
   * only to be moved is not read: it may be large, and is not needed. A bucket without any is a row
   * without sequence, so that there is always a row that says what the snapshot's horizon is. That,
   * and whether a bucket has blocked keys at all, is asked once a bucket (OFFSET 0 sees to it), and
   * the latter not in the lease: that statement's snapshot may be older than the last holder's
   * settle.
   */
  private static Read read(Names names, String orElse, String where, String order) {
    String read =
        """
        select ${columns}
        from (
          select l.*, ${horizon} as horizon,
            (select true from ${q}${p}blocked_key k
              where k.bucket = l.bucket limit 1) is not null as any_blocked
          from unnest(:buckets, :lowWater, :most) l (bucket, low_water, most)
          offset 0
        ) l
        ${join} (
          select m.*,
            case when l.any_blocked and (select true from ${q}${p}blocked_key k
              where k.bucket = m.bucket and k.key = coalesce(m.partition_key, m.aggregate_id)
              limit 1) is not null then 'BLOCKED' ${orElse} end as target
          from ${q}${p}message m
          where m.bucket = l.bucket and ${where}
          order by ${order}
          limit l.most
        ) m on true
        """
            .replace("${horizon}", HORIZON)
            .replace("${orElse}", orElse)
            .replace("${where}", where)
            .replace("${order}", order);
    String content =
        Rows.COLUMNS.replace(
            "m.payload",
            "case when m.target is null and octet_length(m.payload) <= :bytes then m.payload end");
    String size =
        "m.bucket, case when m.target is null then octet_length(m.payload) else 0 end as size";
    return new Read(
        names.fill(
            read.replace("${columns}", content + ", m.target, l.horizon")
                .replace("${join}", "left join lateral")),
        names.fill(read.replace("${columns}", size).replace("${join}", "join lateral")));
  }
}
