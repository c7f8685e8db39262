package dev.outbox.store.sqlserver;

import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.jdbc.internal.InspectionTexts;
import java.util.Locale;

/**
 * How messages and keys are looked at. No index has all messages in the order of their sequences,
 * so a page reads the front of each part that one has: the PENDING and the SCHEDULED ones of each
 * bucket, and the BLOCKED and the DEAD ones. It may go as far as all of the parts were read.
 *
 * <p>It locks nothing and waits for nobody, as the statistics. So it also sees what is not
 * committed.
 */
final class SqlServerInspection extends InspectionTexts {

  /**
   * Of these parts there are 128, which read half of what a page may. The list of values has the
   * column's collation: "any column reference" is implicit, and two of these with different
   * collations are an error.
   */
  private static final String OF_BUCKETS =
      """
      ${buckets} n
      cross join (values (N'PENDING' collate Latin1_General_100_BIN2), (N'SCHEDULED')) s (status)
      cross apply (
        select top (%s) ${columns} from ${q}${p}message m ${dirtyKey}
        where m.bucket = n.bucket and m.status = s.status and m.place = 0x00 and m.seq > :after%s
        order by m.seq) m\
      """
          .replace("${buckets}", SqlServerAdministration.BUCKETS);

  private static final String OF_STATUS =
      """
      (select top (%3$s) ${columns} from ${q}${p}message m
        with (nolock, forceseek, index (${p}message_%2$s))
        where m.status = N'%1$s' and m.seq > :after%4$s
        order by m.seq) m\
      """;

  private static final String END =
      """
      select min(p.last) from (
        select max(m.seq) as last from %s
        group by n.bucket, s.status having count(*) = :limit / 256
        union all select max(m.seq) as last from %s having count(*) = :limit / 4
        union all select max(m.seq) as last from %s having count(*) = :limit / 4
      ) p
      having min(p.last) is not null
      """
          .formatted(
              OF_BUCKETS.formatted(":limit / 256", ""),
              ofStatus(Status.BLOCKED, ":limit / 4", ""),
              ofStatus(Status.DEAD, ":limit / 4", ""))
          .replace("${columns}", "m.seq");

  private static final String MESSAGES =
      """
      select top (:limit) ${listed} from (
        select ${columns} from %s
        union all select ${columns} from %s
        union all select ${columns} from %s
      ) m
      where m.seq > :after${and}
      order by m.seq
      """
          .formatted(
              OF_BUCKETS.formatted(":limit", "${and}"),
              ofStatus(Status.BLOCKED, ":limit", "${and}"),
              ofStatus(Status.DEAD, ":limit", "${and}"))
          .replace("${columns}", COLUMNS);

  private static final String MESSAGE =
      """
      select ${columns}
      from (
        select n.bucket, s.status, 0x00 as place
        from ${buckets} n
        cross join (values (N'PENDING' collate Latin1_General_100_BIN2), (N'SCHEDULED'), (N'DEAD')) s (status)
        union all
        select m.bucket, m.status, m.place from ${q}${p}message m
        with (nolock, forceseek, index (${p}message_blocked))
        where m.status = N'BLOCKED' and m.seq = :seq
      ) f
      inner join ${q}${p}message m ${dirtyKey}
        on m.bucket = f.bucket and m.status = f.status and m.place = f.place and m.seq = :seq
      option (loop join, force order)
      """
          .replace("${buckets}", SqlServerAdministration.BUCKETS);

  private static final String OF_KEY =
      "m.bucket = k.bucket and m.status = N'BLOCKED' and m.place = k.key_hash";

  private static final String KEYS =
      """
      select k.bucket, k.message_key as [key], k.retry_at, k.halted_by, head.seq as head,
        coalesce(letter.attempts, head.attempts) as attempts,
        coalesce(letter.last_error, head.last_error) as last_error,
        (select count(*) from (
          select top (:most) m.seq from ${q}${p}message m ${dirtyKey}
          where ${ofKey} order by m.seq) m) as waiting
      from (${which}) k
      outer apply (
        select top (1) m.seq, m.attempts, m.last_error from ${q}${p}message m ${dirtyKey}
        where k.halted_by is null and ${ofKey} order by m.seq) head
      outer apply (
        select top (1) m.attempts, m.last_error from ${q}${p}message m ${dirtyKey}
        where m.bucket = k.bucket and m.status = N'DEAD' and m.place = 0x00
          and m.seq = k.halted_by) letter
      order by ${order}
      """
          .replace("${ofKey}", OF_KEY);

  private static final String SOME_KEYS =
      """
      select top (:limit) k.* from ${buckets} n
      cross apply (
        select top (:limit) k.* from ${q}${p}blocked_key k
        with (nolock, forceseek, index (${index}))
        where k.bucket = n.bucket and ${behind}
        order by ${order}) k
      where n.bucket >= :bucket
      order by k.bucket, ${order}\
      """
          .replace("${buckets}", SqlServerAdministration.BUCKETS);

  SqlServerInspection(SqlServerArchive says) {
    super(says, SqlServerAdministration.HALTS_KEY);
  }

  private static String ofStatus(Status status, String most, String and) {
    return OF_STATUS.formatted(status, status.name().toLowerCase(Locale.ROOT), most, and);
  }

  private static boolean isOfKey(Query query) {
    return query.status() == Status.BLOCKED && query.key() != null;
  }

  @Override
  protected Range range(Query query) {
    return isOfKey(query)
        ? new Range(
            "${q}${p}message m ${dirtyKey}",
            "m.bucket = (convert(int, substring(${key}, 1, 1)) & 63) and m.status = N'BLOCKED' and m.place = ${key}",
            "m.seq",
            "m.seq",
            true,
            true)
        : new Range(
            "${q}${p}message m with (nolock, forceseek, index (${p}message_dead))",
            "m.status = N'DEAD'",
            "m.seq",
            "m.seq",
            query.status() == Status.DEAD,
            false);
  }

  @Override
  protected boolean isOneRange(Query query) {
    return query.status() == Status.DEAD || isOfKey(query);
  }

  @Override
  protected String end(Query query) {
    return isOneRange(query) ? super.end(query) : END;
  }

  @Override
  protected String messages(Query query) {
    return isOneRange(query) ? super.messages(query) : MESSAGES.replace("${listed}", listed());
  }

  @Override
  protected String error() {
    return "charindex(:error, m.last_error) > 0";
  }

  @Override
  protected String message() {
    return MESSAGE.replace("${columns}", whole());
  }

  @Override
  protected String keys(Keys which) {
    return switch (which) {
      case ALL -> keys("1", "(n.bucket > :bucket or k.key_hash > ${key})", "k.key_hash");
      case HALTED ->
          keys(
              "${p}blocked_key_due",
              "k.halted_by is not null and (n.bucket > :bucket or k.halted_by > :behind)",
              "k.halted_by");
      case ONE ->
          KEYS.replace(
                  "${which}",
                  "select k.* from ${q}${p}blocked_key k ${dirtyKey} where k.bucket = :bucket and k.key_hash = ${key}")
              .replace("${order}", "k.bucket");
    };
  }

  private static String keys(String index, String behind, String order) {
    return KEYS.replace("${order}", "k.bucket, " + order)
        .replace(
            "${which}",
            SOME_KEYS
                .replace("${index}", index)
                .replace("${behind}", behind)
                .replace("${order}", order));
  }
}
