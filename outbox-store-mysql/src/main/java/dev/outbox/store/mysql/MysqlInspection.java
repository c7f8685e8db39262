package dev.outbox.store.mysql;

import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.jdbc.internal.InspectionTexts;

/**
 * How messages and keys are looked at: in the order of their sequences, by an index that has their
 * status, too; those behind a key in the order they lie in. Dead letters lie by bucket: a page of
 * them ends where of one bucket enough have been read.
 */
final class MysqlInspection extends InspectionTexts {

  /** How many are BLOCKED. A subquery in FROM cannot have a limit and see the key. */
  private static final String KEYS =
      """
      select k.bucket, k.`key`, k.retry_at, k.halted_by,
        if(k.halted_by is null, (select m.seq ${blockedOfKey}), null) as head,
        if(k.halted_by is null, (select m.attempts ${blockedOfKey}), (select m.attempts ${letter}))
          as attempts,
        if(k.halted_by is null, (select m.last_error ${blockedOfKey}), (select m.last_error ${letter}))
          as last_error,
        if((select m.seq ${blockedOfKey} offset ${most}) is null,
          (select count(*) ${allOfKey}), :most) as waiting
      from ${q}${p}blocked_key k force index (${index})
      where ${which}
      order by ${order}
      limit :limit
      """;

  private static final String LETTER =
      "from ${q}${p}message m force index (${p}message_seq) where m.seq = k.halted_by limit 1";

  private static final String ALL_OF_KEY =
      """
      from ${q}${p}message m force index (primary)
      where m.bucket = k.bucket and m.status = 'BLOCKED' and m.place = convert(k.`key` using binary) and m.seq >= k.low_seq\
      """;

  private static final String END_OF_DEAD =
      "select min(d.seq) from (%s) d having min(d.seq) is not null"
          .formatted(MysqlText.deadOfEachBucket("m.seq", "limit 1 offset :skipped"));

  private static final String BEHIND =
      "(k.bucket > :bucket or k.bucket = :bucket and k.`key` > :key)";

  private static final String HALTED = "k.due_at = timestamp '9999-12-31 00:00:00'";

  MysqlInspection(MysqlArchive says) {
    super(says, MysqlAdministration.HALTS_KEY);
  }

  @Override
  protected Range range(Query query) {
    if (query.status() == Status.DEAD) {
      return new Range(
          "${q}${p}message m force index (primary)",
          "m.bucket in (${everyBucket}) and m.status = 'DEAD' and m.place = _binary''",
          "m.seq",
          "m.seq",
          true,
          false);
    }
    return query.status() == Status.BLOCKED && query.key() != null
        ? new Range(
            "${q}${p}message m force index (primary)",
            "m.bucket = (crc32(:key) & 63) and m.status = 'BLOCKED' and m.place = convert(:key using binary)",
            "m.seq",
            "m.bucket, m.status, m.place, m.seq",
            true,
            true)
        : new Range(
            "${q}${p}message m force index (${p}message_seq)",
            "true",
            "m.seq",
            "m.seq",
            false,
            false);
  }

  @Override
  protected boolean isOneRange(Query query) {
    return query.status() != Status.DEAD;
  }

  @Override
  protected String end(Query query) {
    return query.status() == Status.DEAD ? END_OF_DEAD : super.end(query);
  }

  @Override
  protected String error() {
    return "locate(:error, m.last_error) > 0";
  }

  @Override
  protected String message() {
    return "select "
        + whole()
        + " from ${q}${p}message m force index (${p}message_seq) where m.seq = :seq";
  }

  @Override
  protected String keys(Keys which) {
    return switch (which) {
      case ALL ->
          keys("primary", "k.bucket in (${everyBucket}) and " + BEHIND, "k.bucket, k.`key`");
      case HALTED ->
          keys(
              "${p}blocked_key_due",
              "k.bucket in (${everyBucket}) and " + HALTED + " and " + BEHIND,
              "k.bucket, k.due_at, k.`key`");
      case ONE -> keys("primary", "k.bucket = :bucket and k.`key` = :key", "k.bucket, k.`key`");
    };
  }

  private static String keys(String index, String which, String order) {
    return KEYS.replace("${letter}", LETTER)
        .replace("${allOfKey}", ALL_OF_KEY)
        .replace("${most}", Integer.toString(InspectionStore.MOST_BEHIND))
        .replace("${index}", index)
        .replace("${which}", which)
        .replace("${order}", order);
  }
}
