package dev.outbox.store.postgres;

import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.jdbc.internal.InspectionTexts;

/** How messages and keys are looked at: in the order of the primary key, or of a partial index. */
final class PostgresInspection extends InspectionTexts {

  private static final String KEYS =
      """
      select k.bucket, k.key, k.retry_at, k.halted_by, head.seq as head, m.attempts, m.last_error,
        (select count(*) from (select from ${q}${p}message m
          where ${blocked} order by ${messageKey}, m.seq + 0 limit :most) m) as waiting
      from (
        select k.* from ${q}${p}blocked_key k
        where ${which}
      ) k
      left join lateral (
        select m.seq from ${q}${p}message m
        where k.halted_by is null and ${blocked}
        order by ${messageKey}, m.seq + 0
        limit 1
      ) head on true
      left join lateral (
        select m.attempts, m.last_error from ${q}${p}message m
        where m.seq = coalesce(k.halted_by, head.seq)
        limit 1
      ) m on true
      order by ${order}
      """
          .replace(
              "${blocked}",
              "m.bucket = k.bucket and m.status = 'BLOCKED' and ${messageKey} = k.key");

  PostgresInspection(PostgresArchive says) {
    super(says, PostgresAdministration.HALTS_KEY);
  }

  @Override
  protected Range range(Query query) {
    boolean ofDead = query.status() == Status.DEAD;
    String sequence = ofDead ? "m.seq + 0" : "m.seq";
    return new Range(
        "${q}${p}message m",
        ofDead ? "m.status = 'DEAD'" : "true",
        sequence,
        sequence,
        ofDead,
        false);
  }

  @Override
  protected String error() {
    return "strpos(m.last_error, :error) > 0";
  }

  @Override
  protected String message() {
    return "select " + whole() + " from ${q}${p}message m where m.seq = :seq";
  }

  @Override
  protected String keys(Keys which) {
    return switch (which) {
      case ALL -> keys("(k.bucket, k.key) > (:bucket, :key)", "k.bucket, k.key");
      case HALTED -> keys("k.halted_by > :behind", "k.halted_by");
      case ONE -> keys("k.bucket = :bucket and k.key = :key", "k.bucket, k.key");
    };
  }

  private static String keys(String which, String order) {
    return KEYS.replace("${which}", which + " order by " + order + " limit :limit")
        .replace("${order}", order);
  }
}
