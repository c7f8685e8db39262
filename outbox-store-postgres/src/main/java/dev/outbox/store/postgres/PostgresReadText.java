package dev.outbox.store.postgres;

import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.jdbc.internal.MessageRows;
import dev.outbox.store.postgres.BatchStatements.Parameters;
import java.sql.SQLException;
import java.util.List;
import java.util.function.ToIntFunction;

/** The texts of the statements that read the first messages of held buckets. */
final class PostgresReadText {
  /** All transactions with a lower id are over, but for this one, which appends nothing. */
  static final String HORIZON =
      """
      pg_snapshot_xmin(pg_current_snapshot())::text::bigint + coalesce(
        (pg_snapshot_xmin(pg_current_snapshot()) = pg_current_xact_id_if_assigned())::int, 0)
      """;

  /**
   * Reads the first messages of each bucket that {@code where} finds, in order. A message moves to
   * BLOCKED when its key is blocked, unless {@code first} says something else; the content of those
   * that are only to be moved is not read: it may be large, and is not needed. A bucket without any
   * is a row without sequence, so that there is always a row that says what the snapshot's horizon
   * is. That, and whether a bucket has blocked keys at all, is asked once a bucket (OFFSET 0 sees
   * to it), and the latter not in the lease: that statement's snapshot may be older than the last
   * holder's settle.
   */
  private static final String READ =
      """
      select ${columns}
      from (
        select l.*, ${horizon} as horizon,
          ${anyBlocked} is not null and (select true from ${q}${p}blocked_key k
            where k.bucket = l.bucket limit 1) is not null as any_blocked
        from ${leased} l
        offset 0
      ) l
      ${join} (
        select m.*,
          case ${first} when l.any_blocked and (select true from ${q}${p}blocked_key k
            where k.bucket = m.bucket and k.key = ${messageKey}
            limit 1) is not null then 'BLOCKED' end as target
        from ${q}${p}message m
        where m.bucket = l.bucket and ${where}
        order by ${order}
        limit l.most
      ) m on true
      """
          .replace("${horizon}", HORIZON);

  private static final String PENDING =
      READ.replace("${first}", "when m.available_at > statement_timestamp() then 'SCHEDULED'")
          .replace("${where}", "m.status = 'PENDING' and m.seq + 0 >= l.low_water")
          .replace("${order}", "m.seq + 0");

  private static final String SCHEDULED =
      READ.replace("${first}", "")
          .replace("${where}", "m.status = 'SCHEDULED' and m.available_at <= statement_timestamp()")
          .replace("${order}", "m.available_at, m.seq");

  /**
   * Reading PENDING messages begins further ahead as long as some transactions are open, see {@link
   * LowWaterMark.Ahead}.
   */
  private static final String LEASED_PENDING =
      """
      (select l.bucket, case when o.ahead then l.ahead else l.low_water end as low_water,
          l.most, o.ahead
        from unnest(?::int[], ?::bigint[], ?::int[], ?::bigint[]) l (bucket, low_water, most, ahead),
          (select ${allOpen} as ahead offset 0) o)
      """;

  static final String READ_PENDING = pending(messages(PENDING));
  static final String READ_SCHEDULED = scheduled(messages(SCHEDULED));
  static final String SIZES_PENDING = pending(sizes(PENDING));
  static final String SIZES_SCHEDULED = scheduled(sizes(SCHEDULED));

  /** Those of {@code held}, and nothing else. */
  static final String MESSAGES_OF_HELD =
      PENDING
          .replace("${columns}", content() + ", m.target")
          .replace("${leased}", "held")
          .replace("${join}", "join lateral");

  private static String pending(String read) {
    return read.replace("${leased}", LEASED_PENDING)
        .replace("l.horizon", "case when l.ahead then l.horizon else 0 end as horizon");
  }

  private static String scheduled(String read) {
    return read.replace(
        "${leased}",
        "(select * from unnest(?::int[], ?::bigint[], ?::int[]) l (bucket, low_water, most))");
  }

  private PostgresReadText() {}

  private static String messages(String read) {
    return read.replace("${columns}", content() + ", m.target, l.horizon")
        .replace("${join}", "left join lateral");
  }

  private static String content() {
    return MessageRows.COLUMNS.replace(
        "m.payload",
        "case when m.target is null and octet_length(m.payload) <= ? then m.payload end");
  }

  private static String sizes(String read) {
    String size =
        "m.bucket, case when m.target is null then octet_length(m.payload) else 0 end as size";
    return read.replace("${columns}", size).replace("${join}", "join lateral");
  }

  static Parameters bind(Parameters parameters, List<Lease> leases, ToIntFunction<Lease> most)
      throws SQLException {
    return parameters
        .integers(leases, Lease::bucket)
        .longs(leases, lease -> LowWaterMark.of(lease).low())
        .integers(leases, most);
  }

  /** As {@link #bind}, with where reading begins beside transactions that stay open. */
  static Parameters bindFrom(Parameters parameters, List<Lease> leases, ToIntFunction<Lease> most)
      throws SQLException {
    return bind(parameters, leases, most)
        .longs(leases, lease -> LowWaterMark.of(lease).ahead().low());
  }

  /** For {@link #LEASED_PENDING}. */
  static Parameters bindPending(
      Parameters parameters, List<Lease> leases, ToIntFunction<Lease> most) throws SQLException {
    return bindFrom(parameters, leases, most)
        .longs(LowWaterMark.Ahead.openOf(leases), Long::longValue);
  }
}
