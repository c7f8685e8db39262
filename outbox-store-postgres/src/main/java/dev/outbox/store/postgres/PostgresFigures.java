package dev.outbox.store.postgres;

import dev.outbox.spi.store.Finding;
import dev.outbox.store.jdbc.internal.SqlAdministration;
import java.util.List;
import org.jdbi.v3.core.Handle;

/**
 * How what waits is counted: in one statement, by the indexes, and with no more work than the cap.
 *
 * <ol>
 *   <li>Of each bucket so many messages are counted that all buckets together come to the cap:
 *       their fronts, which lie beside each other in the table and are what claims read too. Where
 *       buckets are even, and where there is little, that is all.
 *   <li>Only where one bucket has more than its part, and all together less than the cap, counting
 *       goes on bucket by bucket, up to the cap.
 *   <li>Counting begins at a bucket's mark ({@link LowWaterMark}), where that is still of use:
 *       before it there may be what was deleted and waits for a vacuum.
 *   <li>The oldest that is free is the oldest of the first of each bucket.
 *   <li>The oldest that is blocked is one of those keys, as many as the cap, that have the lowest
 *       sequences.
 * </ol>
 *
 * A message in front that is not due, which no claim has moved out of the way yet, has no age.
 */
final class PostgresFigures {

  /** Since when a message is due. A time may be infinite, or from before the common era. */
  private static final String SINCE =
      "greatest(coalesce(m.available_at, m.created_at), '0001-01-01 00:00:00+00')";

  private static final String PENDING =
      "m.status = 'PENDING' and m.seq + 0 >= b.low_water order by m.seq + 0";

  private static final String SCHEDULED = "m.status = 'SCHEDULED' order by m.available_at";

  private static final String BLOCKED = "m.status = 'BLOCKED' order by ${messageKey}, m.seq + 0";

  static final String STATISTICS =
      """
      with marks as materialized (
        select n as bucket, coalesce((select ${start} from ${q}${p}bucket b, (${history}) now
          where b.bucket = n and ${marked}), 0) as low_water
        from generate_series(0, 63) n
      ), fronts as materialized (
        select b.*, ${frontOfPending} as pending, ${frontOfScheduled} as scheduled,
          ${frontOfBlocked} as blocked, ${firstPending} as free, ${firstScheduled} as due
        from marks b
      ), counted as (
        select sum(f.pending) as pending, max(f.pending) as most_pending,
          sum(f.scheduled) as scheduled, max(f.scheduled) as most_scheduled,
          sum(f.blocked) as blocked, max(f.blocked) as most_blocked,
          least(min(f.free) filter (where f.free <= statement_timestamp()),
            min(f.due) filter (where f.due <= statement_timestamp())) as free_since
        from fronts f
      ), oldest as (
        select k.bucket, k.key, k.low_seq from (
          select k.bucket, k.key, k.low_seq from ${q}${p}blocked_key k
          where k.ctid >= '(0,0)' limit :cap) k
        order by k.low_seq limit ${oldestKeys}
      )
      select ${pending} as pending, ${scheduled} as scheduled, ${blocked} as blocked,
        (select count(*) from (select from ${q}${p}message m
          where m.status = 'DEAD' order by m.seq + 0 limit :cap) d) as dead,
        (select count(*) from (select from ${q}${p}blocked_key k
          where k.halted_by is null order by k.bucket, k.retry_at limit :cap) k) as blocked_keys,
        (select count(*) from (select from ${q}${p}blocked_key k
          where k.halted_by is not null order by k.halted_by limit :cap) k) as halted_keys,
        ${freeMillis} as free_millis,
        ${blockedMillis} as blocked_millis
      from counted c
      """
          .replace("${frontOfPending}", front(PENDING))
          .replace("${frontOfScheduled}", front(SCHEDULED))
          .replace("${frontOfBlocked}", front(BLOCKED))
          .replace("${firstPending}", first(PENDING))
          .replace("${firstScheduled}", first(SCHEDULED))
          .replace("${pending}", counted("pending", PENDING))
          .replace("${scheduled}", counted("scheduled", SCHEDULED))
          .replace("${blocked}", counted("blocked", BLOCKED))
          .replace("${freeMillis}", millis("c.free_since"))
          .replace(
              "${blockedMillis}",
              millis(
                  """
              (select min(f.due) from oldest k cross join lateral (
                select ${since} as due from ${q}${p}message m
                where m.bucket = k.bucket and m.status = 'BLOCKED'
                  and ${messageKey} = k.key and m.seq + 0 >= k.low_seq
                order by ${messageKey}, m.seq + 0 limit 1) f
              where f.due <= statement_timestamp())"""))
          .replace("${since}", SINCE)
          .replace("${oldestKeys}", Integer.toString(SqlAdministration.OLDEST_KEYS));

  /** Of how many at most it is said that they are hidden. */
  private static final int MOST_HIDDEN = 1_000;

  /** Messages below their bucket's mark, which neither claims nor figures see. */
  static final String HIDDEN =
      """
      select h.bucket, min(h.seq) as first, count(*) as messages
      from (
        select b.bucket, m.seq from (${history}) now
        join ${q}${p}bucket b on ${marked}
        cross join lateral (
          select m.seq from ${q}${p}message m
          where m.bucket = b.bucket and m.status = 'PENDING' and m.seq + 0 < ${start}
          order by m.seq + 0 limit ${most}) m
        where b.ctid >= '(0,0)'
        limit ${most}) h
      group by h.bucket order by h.bucket
      """
          .replace("${most}", Integer.toString(MOST_HIDDEN));

  private PostgresFigures() {}

  /** Each bucket whose mark is wrong. */
  static List<Finding> findings(Handle handle) {
    return Finding.orFine(
        "marks",
        handle
            .createQuery(HIDDEN)
            .map(
                (row, context) ->
                    Finding.problem(
                        "marks",
                        "%s%s messages of bucket %s, from sequence %s on, lie below the bucket's mark, where no claim looks and no figure counts"
                            .formatted(
                                row.getLong("messages") == MOST_HIDDEN ? "at least " : "",
                                row.getLong("messages"),
                                row.getInt("bucket"),
                                row.getLong("first")),
                        "a mark must never pass a message, so report this; housekeeping forgets a bucket's mark each minute, and with it gone they are delivered within about an hour"))
            .list());
  }

  /** How many there are of a bucket, up to its part of the cap. */
  private static String front(String which) {
    return """
    (select count(*) from (select from ${q}${p}message m
      where m.bucket = b.bucket and %s limit :cap / 64 + 1) f)"""
        .formatted(which);
  }

  private static String first(String which) {
    return """
    (select %s from ${q}${p}message m
      where m.bucket = b.bucket and %s limit 1)"""
        .formatted(SINCE, which);
  }

  private static String counted(String status, String which) {
    return """
    case when c.%1$s >= :cap then :cap when c.most_%1$s <= :cap / 64 then c.%1$s else (
      select count(*) from (select from fronts b cross join lateral (
        select from ${q}${p}message m where m.bucket = b.bucket and %2$s limit :cap) m
        limit :cap) m) end"""
        .formatted(status, which);
  }

  private static String millis(String since) {
    return "(extract(epoch from statement_timestamp() - %s) * 1000)::bigint".formatted(since);
  }
}
