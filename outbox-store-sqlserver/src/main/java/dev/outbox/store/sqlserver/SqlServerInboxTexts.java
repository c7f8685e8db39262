package dev.outbox.store.sqlserver;

import dev.outbox.store.jdbc.internal.InboxTexts;

/**
 * The statements of the inbox on SQL Server. Time is {@code sysutcdatetime()}. A row is found by
 * the hash of its key, because T-SQL says that 'a' = 'a ', and two texts are too long for an index.
 */
final class SqlServerInboxTexts {

  /** Takes consumer and message id; the table computes the same. */
  private static final String KEY_HASH =
      "hashbytes('SHA2_256', hashbytes('SHA2_256', convert(varbinary(1020), convert(nvarchar(510), ?))) + hashbytes('SHA2_256', convert(varbinary(1020), convert(nvarchar(510), ?))))";

  /** Two durations, from the statement on; a parameter stands once, and this names it twice. */
  private static final String LOCK_UNTIL = SqlServerText.later("i.lock_millis");

  private static final String EXPIRES_AT = SqlServerText.later("i.expires_millis");

  /**
   * With IGNORE_DUP_KEY = ON a key that is there is left out with a warning, and no error would end
   * the caller's transaction under XACT_ABORT. One in another's open transaction is waited for.
   */
  private static final String INSERT =
      """
      insert into ${q}${p}message
        (consumer, message_id, state, token, lock_until, fingerprint, expires_at, attempts)
      select i.consumer, i.message_id, i.state, i.token, ${lockUntil}, i.fingerprint, ${expiresAt}, 1
      from (
        select ? as consumer, ? as message_id, ? as state, ? as token, ? as lock_millis,
          ? as fingerprint, ? as expires_millis
      ) i
      """
          .replace("${lockUntil}", LOCK_UNTIL)
          .replace("${expiresAt}", EXPIRES_AT);

  /** With locks, because a transaction at SNAPSHOT would read its snapshot. */
  private static final String FIND =
      """
      select state, token, fingerprint, attempts, content_type, result,
        coalesce(datediff_big(microsecond, sysutcdatetime(), lock_until), 0) as left_micros
      from ${q}${p}message ${seekNow}
      where key_hash = ${keyHash}
      """
          .replace("${keyHash}", KEY_HASH);

  private static final String UPDATE =
      """
      update m set
        state = i.state, token = i.token, lock_until = ${lockUntil},
        attempts = m.attempts + i.more, fingerprint = coalesce(m.fingerprint, i.fingerprint),
        content_type = i.content_type, result = i.result,
        last_error = coalesce(i.last_error collate Latin1_General_100_BIN2, m.last_error), expires_at = ${expiresAt}
      from (
        select ? as state, ? as token, ? as lock_millis, ? as more, ? as fingerprint,
          ? as content_type, ? as result, ? as last_error, ? as expires_millis,
          ${keyHash} as key_hash
      ) i
      inner join ${q}${p}message m with (forceseek) on m.key_hash = i.key_hash
      where m.token = ? and m.state = ?
      """
          .replace("${lockUntil}", LOCK_UNTIL)
          .replace("${expiresAt}", EXPIRES_AT)
          .replace("${keyHash}", KEY_HASH);

  /** UPDLOCK keeps what was read locked, until it is deleted. */
  private static final String EXPIRED =
      """
      select top (?) consumer, message_id
      from ${q}${p}message with (updlock, readpast, readcommittedlock, forceseek, index (${p}message_expired))
      where expires_at <= ${utc}
      order by expires_at
      """;

  private static final String DELETE =
      "delete m from ${q}${p}message m with (forceseek) where m.key_hash = ${keyHash}"
          .replace("${keyHash}", KEY_HASH);

  /** The states are literals, so that the filtered indexes are seen to fit. */
  private static final String STATISTICS =
      """
      select
        (select count(*) from (
          select top (?) m.key_hash from ${q}${p}message m
          with (nolock, index (${p}message_started))
          where m.state = N'STARTED' and m.lock_until > ${utc}) a) as in_progress,
        (select count(*) from (
          select top (?) m.key_hash from ${q}${p}message m
          with (nolock, index (${p}message_started))
          where m.state = N'STARTED' and m.lock_until <= ${utc}) b) as expired_locks,
        (select count(*) from (
          select top (?) m.key_hash from ${q}${p}message m
          with (nolock, index (${p}message_failed))
          where m.state = N'FAILED') c) as failed
      """;

  static final InboxTexts TEXTS =
      new InboxTexts(INSERT, FIND, UPDATE, "m.lock_until <= ${utc}", EXPIRED, DELETE, STATISTICS);

  private SqlServerInboxTexts() {}
}
