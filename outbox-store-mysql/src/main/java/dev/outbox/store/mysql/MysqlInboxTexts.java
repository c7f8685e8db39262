package dev.outbox.store.mysql;

import dev.outbox.store.jdbc.internal.InboxTexts;

/** The statements of the inbox on MySQL and MariaDB. Time is {@code utc_timestamp(6)}. */
final class MysqlInboxTexts {

  /** From the statement on. */
  private static final String LATER = "utc_timestamp(6) + interval ? * 1000 microsecond";

  /**
   * What is there gets another {@code met}, and nothing else: a change counts as two rows, where a
   * row that was found and left alone counts, with the driver's default settings, as one that was
   * inserted. An INSERT that fails would leave a shared lock, and two that wait for one that rolls
   * back would deadlock.
   */
  private static final String INSERT =
      """
    insert into ${q}${p}message
      (consumer, message_id, state, token, lock_until, fingerprint, expires_at, attempts)
    values (?, ?, ?, ?, ${later}, ?, ${later}, 1)
    on duplicate key update met = 1 - met
    """
          .replace("${later}", LATER);

  /** With a lock, because a transaction at REPEATABLE READ would read its snapshot. */
  private static final String FIND =
      """
    select state, token, fingerprint, attempts, content_type, result,
      coalesce(timestampdiff(microsecond, utc_timestamp(6), lock_until), 0) as left_micros
    from ${q}${p}message where consumer = ? and message_id = ? for update
    """;

  private static final String UPDATE =
      """
    update ${q}${p}message set
      state = ?, token = ?, lock_until = ${later}, attempts = attempts + ?,
      fingerprint = coalesce(fingerprint, ?), content_type = ?, result = ?,
      last_error = coalesce(?, last_error), expires_at = ${later}
    where consumer = ? and message_id = ? and token = ? and state = ?
    """
          .replace("${later}", LATER);

  private static final String LOCK_IS_OVER = "lock_until <= utc_timestamp(6)";

  private static final String EXPIRED =
      """
    select consumer, message_id from ${q}${p}message force index (${p}message_expired)
    where expires_at <= utc_timestamp(6)
    order by expires_at
    limit ?
    for update skip locked
    """;

  private static final String STATISTICS =
      """
    select
      (select count(*) from (select 1 from ${q}${p}message force index (${p}message_state)
        where state = 'STARTED' and lock_until > utc_timestamp(6) limit ?) a) as in_progress,
      (select count(*) from (select 1 from ${q}${p}message force index (${p}message_state)
        where state = 'STARTED' and lock_until <= utc_timestamp(6) limit ?) b) as expired_locks,
      (select count(*) from (select 1 from ${q}${p}message force index (${p}message_state)
        where state = 'FAILED' limit ?) c) as failed
    """;

  static final InboxTexts TEXTS =
      new InboxTexts(INSERT, FIND, UPDATE, LOCK_IS_OVER, EXPIRED, InboxTexts.DELETE, STATISTICS);

  private MysqlInboxTexts() {}
}
