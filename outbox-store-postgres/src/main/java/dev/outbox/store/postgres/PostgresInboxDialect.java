package dev.outbox.store.postgres;

import dev.outbox.store.core.internal.Names;
import dev.outbox.store.jdbc.internal.Distributed;
import dev.outbox.store.jdbc.internal.InboxDialect;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** The statements of the inbox on PostgreSQL. Time is {@code statement_timestamp()}. */
final class PostgresInboxDialect extends PostgresServer implements InboxDialect {

  /** From the statement on. */
  private static final String LATER = "statement_timestamp() + ? * interval '1 millisecond'";

  PostgresInboxDialect(Names names, Pooler pooler) {
    super(names, pooler);
  }

  @Override
  public String changelog() {
    return "dev/outbox/store/postgres/inbox-changelog.sql";
  }

  /** An inbox has no order to lose. */
  @Override
  public List<Distributed> distributed() {
    return List.of();
  }

  @Override
  public void check(Connection connection) throws SQLException {
    pooler.check(connection);
  }

  /** A conflict that does nothing provokes no error, and leaves a row that is there alone. */
  @Override
  public String insert() {
    return """
    insert into ${q}${p}message
      (consumer, message_id, state, token, lock_until, fingerprint, expires_at, attempts)
    values (?, ?, ?, ?::uuid, ${later}, ?, ${later}, 1)
    on conflict (consumer, message_id) do nothing
    """
        .replace("${later}", LATER);
  }

  /**
   * At READ COMMITTED a statement sees what was committed before it began. At the other levels the
   * insert has failed where the row is newer than the snapshot.
   */
  @Override
  public String find() {
    return """
    select state, token, fingerprint, attempts, content_type, result,
      ceil(extract(epoch from lock_until - statement_timestamp()) * 1000000)::bigint as left_micros
    from ${q}${p}message where consumer = ? and message_id = ?
    """;
  }

  @Override
  public String update() {
    return """
    update ${q}${p}message set
      state = ?, token = ?::uuid, lock_until = ${later}, attempts = attempts + ?,
      fingerprint = coalesce(fingerprint, ?), content_type = ?, result = ?,
      last_error = coalesce(?, last_error), expires_at = ${later}
    where consumer = ? and message_id = ? and token = ?::uuid and state = ?
    """
        .replace("${later}", LATER);
  }

  @Override
  public String lockIsOver() {
    return "lock_until <= statement_timestamp()";
  }

  @Override
  public String expired() {
    return """
    select consumer, message_id from ${q}${p}message
    where expires_at <= statement_timestamp()
    order by expires_at
    limit ?
    for update skip locked
    """;
  }

  /** The states are literals, so that the partial index is seen to fit. */
  @Override
  public String statistics() {
    return """
    select
      (select count(*) from (select from ${q}${p}message
        where state = 'STARTED' and lock_until > statement_timestamp() limit ?) a) as in_progress,
      (select count(*) from (select from ${q}${p}message
        where state = 'STARTED' and lock_until <= statement_timestamp() limit ?) b) as expired_locks,
      (select count(*) from (select from ${q}${p}message
        where state = 'FAILED' limit ?) c) as failed
    """;
  }
}
