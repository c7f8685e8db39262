package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.internal.InboxTexts;

/** The statements of the inbox on PostgreSQL. Time is {@code statement_timestamp()}. */
final class PostgresInboxTexts {

  /** From the statement on. */
  private static final String LATER = "statement_timestamp() + ? * interval '1 millisecond'";

  /** A conflict that does nothing provokes no error, and leaves a row that is there alone. */
  private static final String INSERT =
      """
    insert into ${q}${p}message
      (consumer, message_id, state, token, lock_until, fingerprint, expires_at, attempts)
    values (?, ?, ?, ?::uuid, ${later}, ?, ${later}, 1)
    on conflict (consumer, message_id) do nothing
    """
          .replace("${later}", LATER);

  /**
   * At READ COMMITTED a statement sees what was committed before it began. At the other levels the
   * insert has failed where the row is newer than the snapshot.
   */
  private static final String FIND =
      """
    select state, token, fingerprint, attempts, content_type, result,
      ceil(extract(epoch from lock_until - statement_timestamp()) * 1000000)::bigint as left_micros
    from ${q}${p}message where consumer = ? and message_id = ?
    """;

  private static final String UPDATE =
      """
    update ${q}${p}message set
      state = ?, token = ?::uuid, lock_until = ${later}, attempts = attempts + ?,
      fingerprint = coalesce(fingerprint, ?), content_type = ?, result = ?,
      last_error = coalesce(?, last_error), expires_at = ${later}
    where consumer = ? and message_id = ? and token = ?::uuid and state = ?
    """
          .replace("${later}", LATER);

  private static final String LOCK_IS_OVER = "lock_until <= statement_timestamp()";

  private static final String EXPIRED =
      """
    select consumer, message_id from ${q}${p}message
    where expires_at <= statement_timestamp()
    order by expires_at
    limit ?
    for update skip locked
    """;

  /** The states are literals, so that the partial index is seen to fit. */
  private static final String STATISTICS =
      """
    select
      (select count(*) from (select from ${q}${p}message
        where state = 'STARTED' and lock_until > statement_timestamp() limit ?) a) as in_progress,
      (select count(*) from (select from ${q}${p}message
        where state = 'STARTED' and lock_until <= statement_timestamp() limit ?) b) as expired_locks,
      (select count(*) from (select from ${q}${p}message
        where state = 'FAILED' limit ?) c) as failed
    """;

  static final InboxTexts TEXTS =
      new InboxTexts(INSERT, FIND, UPDATE, LOCK_IS_OVER, EXPIRED, InboxTexts.DELETE, STATISTICS);

  private PostgresInboxTexts() {}
}
