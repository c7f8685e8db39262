package dev.outbox.store.mysql;

import dev.outbox.store.core.internal.Names;
import dev.outbox.store.jdbc.internal.Distributed;
import dev.outbox.store.jdbc.internal.InboxDialect;
import java.util.List;

/** The statements of the inbox on MySQL and MariaDB. Time is {@code utc_timestamp(6)}. */
final class MysqlInboxDialect extends MysqlServer implements InboxDialect {

  /** From the statement on. */
  private static final String LATER = "utc_timestamp(6) + interval ? * 1000 microsecond";

  private final Names names;

  MysqlInboxDialect(Names names, Flavor flavor) {
    super(flavor);
    this.names = names;
  }

  @Override
  public String changelog() {
    return "dev/outbox/store/mysql/inbox-changelog.sql";
  }

  /** An inbox has no order to lose. */
  @Override
  public List<Distributed> distributed() {
    return List.of();
  }

  @Override
  public String fill(String sql) {
    return names.fill(sql.replace("${later}", LATER));
  }

  /**
   * What is there gets another {@code met}, and nothing else: a change counts as two rows, where a
   * row that was found and left alone counts, with the driver's default settings, as one that was
   * inserted. An INSERT that fails would leave a shared lock, and two that wait for one that rolls
   * back would deadlock.
   */
  @Override
  public String insert() {
    return """
    insert into ${q}${p}message
      (consumer, message_id, state, token, lock_until, fingerprint, expires_at, attempts)
    values (?, ?, ?, ?, ${later}, ?, ${later}, 1)
    on duplicate key update met = 1 - met
    """;
  }

  /** With a lock, because a transaction at REPEATABLE READ would read its snapshot. */
  @Override
  public String find() {
    return """
    select state, token, fingerprint, attempts, content_type, result,
      coalesce(timestampdiff(microsecond, utc_timestamp(6), lock_until), 0) as left_micros
    from ${q}${p}message where consumer = ? and message_id = ? for update
    """;
  }

  @Override
  public String update() {
    return """
    update ${q}${p}message set
      state = ?, token = ?, lock_until = ${later}, attempts = attempts + ?,
      fingerprint = coalesce(fingerprint, ?), content_type = ?, result = ?,
      last_error = coalesce(?, last_error), expires_at = ${later}
    where consumer = ? and message_id = ? and token = ? and state = ?
    """;
  }

  @Override
  public String lockIsOver() {
    return "lock_until <= utc_timestamp(6)";
  }

  @Override
  public String expired() {
    return """
    select consumer, message_id from ${q}${p}message force index (${p}message_expired)
    where expires_at <= utc_timestamp(6)
    order by expires_at
    limit ?
    for update skip locked
    """;
  }

  @Override
  public String statistics() {
    return """
    select
      (select count(*) from (select 1 from ${q}${p}message force index (${p}message_state)
        where state = 'STARTED' and lock_until > utc_timestamp(6) limit ?) a) as in_progress,
      (select count(*) from (select 1 from ${q}${p}message force index (${p}message_state)
        where state = 'STARTED' and lock_until <= utc_timestamp(6) limit ?) b) as expired_locks,
      (select count(*) from (select 1 from ${q}${p}message force index (${p}message_state)
        where state = 'FAILED' limit ?) c) as failed
    """;
  }
}
