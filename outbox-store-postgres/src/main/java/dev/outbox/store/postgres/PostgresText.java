package dev.outbox.store.postgres;

import dev.outbox.store.core.internal.Row.OfMessage;
import dev.outbox.store.jdbc.internal.MessageRows;
import dev.outbox.store.postgres.BatchStatements.Parameters;
import java.nio.ByteBuffer;
import java.sql.SQLException;
import java.util.Collection;
import java.util.UUID;

/**
 * The texts that several statements share. They are written for the plans that
 * docs/design/postgresql.md speaks of.
 */
final class PostgresText {
  /** A message's key, as the index of BLOCKED messages has it. */
  private static final String MESSAGE_KEY =
      "coalesce(m.partition_key, m.aggregate_type || '/' || m.aggregate_id)";

  /** The sequence of the messages, as {@code s.seq}. */
  private static final String SEQUENCE =
      "(select pg_get_serial_sequence('${q}${p}message', 'seq')::regclass as seq offset 0) s";

  private static final String HISTORY_NAME =
      "pg_relation_filenode(s.seq) || ' ' || extract(epoch from pg_postmaster_start_time())";

  /** The history of {@link #HISTORY} alone, for users who may not read the sequence. */
  static final String ONLY_HISTORY = "select " + HISTORY_NAME + " as history from " + SEQUENCE;

  /**
   * What sequences and transactions' ids belong to: the file of the sequence, which a restart of it
   * replaces, on this start of the server. A standby that was promoted, a restored backup and an
   * older copy of the disk may give numbers again that were given already, and each of them is
   * another start. And the sequence that comes next: a mark beyond it is from before the sequence
   * was set back. And whether this transaction has no id yet: one that it draws from here on is
   * drawn after the sample of the sequence, as {@link CertifiedSequences} needs it.
   */
  private static final String HISTORY =
      """
      select ${name} as history,
        1 + coalesce(pg_sequence_last_value(s.seq), 0) as next,
        pg_current_xact_id_if_assigned() is null as first
      from ${sequence}
      """
          .replace("${name}", HISTORY_NAME)
          .replace("${sequence}", SEQUENCE);

  /** Whether all of these transactions are open, as the statement's snapshot has it. */
  private static final String ALL_OPEN =
      "not exists (select from unnest(${open}) x"
          + " where pg_visible_in_snapshot(x::text::xid8, pg_current_snapshot()))";

  /** Whether a bucket's stored marks are of this history, {@code now}. */
  private static final String MARKED =
      "b.low_water_history = now.history and greatest(b.low_water, b.low_water_ahead) <= now.next";

  /** Where reading begins by a bucket's stored marks. */
  private static final String START =
      "case when b.ahead_of is not null and "
          + ALL_OPEN.replace("${open}", "b.ahead_of")
          + " then b.low_water_ahead else b.low_water end";

  /**
   * Whether the outbox has blocked keys at all: asked once, it mostly spares a question a bucket.
   */
  private static final String ANY_BLOCKED =
      "(select true from ${q}${p}blocked_key order by bucket, key limit 1)";

  /** Whether a bucket has SCHEDULED messages and blocked keys that are due. */
  private static final String DUE =
      """
      (select true from ${q}${p}message where status = 'SCHEDULED'
        order by bucket, available_at, seq limit 1) is not null
        and (select true from ${q}${p}message m
          where m.bucket = ${bucket} and m.status = 'SCHEDULED'
            and m.available_at <= statement_timestamp()
          order by m.available_at limit 1) is not null as scheduled,
      ${anyBlocked} is not null
        and (select true from ${q}${p}blocked_key k
          where k.bucket = ${bucket} and k.halted_by is null
            and k.retry_at <= statement_timestamp()
          order by k.retry_at limit 1) is not null as blocked
      """;

  /**
   * A lease counts while it lasts; one that lies too far ahead is from before the clock jumped
   * back.
   */
  private static final String FREE =
      """
      (b.lease_until is null
        or b.lease_until <= clock_timestamp()
        or b.leased_at - clock_timestamp() > b.lease_until - b.leased_at)
      """;

  /** The transaction's id, when it was drawn after the sample; or else 0. */
  private static final String TRANSACTION =
      "case when now.first then pg_current_xact_id()::text::bigint else 0 end";

  /**
   * The rows with these sequences and ids. The ids are bytes, which the driver sends as they are;
   * it would send an array of uuid as text. They are a table that is hashed once; an array would be
   * searched from its beginning for each row. {@code is true} keeps the planner from making a join
   * of it.
   */
  private static final String THESE =
      "seq = any(?::bigint[]) and (uuid_send(id) in (select unnest(?::bytea[]))) is true";

  private PostgresText() {}

  static String fill(String sql) {
    return sql.replace("${columns}", MessageRows.COLUMNS)
        .replace("${history}", HISTORY)
        .replace("${marked}", MARKED)
        .replace("${start}", START)
        .replace("${free}", FREE)
        .replace("${transaction}", TRANSACTION)
        .replace("${these}", THESE)
        .replace("${allOpen}", ALL_OPEN.replace("${open}", "?::bigint[]"))
        .replace("${anyBlocked}", ANY_BLOCKED)
        .replace("${messageKey}", MESSAGE_KEY)
        .replace("${clock}", "statement_timestamp()");
  }

  /** {@link #DUE} of a bucket. */
  static String due(String bucket) {
    return DUE.replace("${bucket}", bucket);
  }

  /** Binds what {@link #THESE} takes. */
  static Parameters these(Parameters parameters, Collection<? extends OfMessage> rows)
      throws SQLException {
    return parameters.longs(rows, OfMessage::sequence).bytes(rows, row -> bytes((UUID) row.id()));
  }

  private static byte[] bytes(UUID id) {
    return ByteBuffer.allocate(2 * Long.BYTES)
        .putLong(id.getMostSignificantBits())
        .putLong(id.getLeastSignificantBits())
        .array();
  }
}
