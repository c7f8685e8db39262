package dev.outbox.store.mysql;

import dev.outbox.Archive;
import dev.outbox.store.jdbc.internal.ArchiveTexts;
import java.time.Duration;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/**
 * The archive. A message is copied and then deleted, by the same list of rows and in one
 * transaction that has locked its bucket; the copy locks the rows, so that what is deleted is what
 * was copied, whatever somebody does by hand. Old rows are deleted from the front of the table: a
 * statement that drops a partition would commit by itself, wait for every open transaction on the
 * table, and let all others wait behind it.
 */
final class MysqlArchive extends ArchiveTexts {

  /** So many are deleted in one transaction. */
  private static final int PURGE = 1_000;

  private static final String TIME = "cast(:%s as datetime(6))";

  MysqlArchive(Archive archive) {
    super(archive);
  }

  /**
   * Takes {@code :rows} with bucket, seq, id, attempts and answer, as {@link MysqlText} has them.
   */
  String copy() {
    return "insert into ${q}${p}archive_message ("
        + kept("")
        + ", attempts, answer, archived_at, outcome) select "
        + kept("m.")
        + """
        , l.attempts, convert(unhex(nullif(l.answer, '')) using utf8mb4), utc_timestamp(6), 'DELIVERED'
        from ${archivedRows} ${lockMessages}
        """;
  }

  @Override
  protected String archived() {
    return "select "
        + columns("_binary''")
        + " from ${q}${p}archive_message m where m.archived_at >= "
        + TIME.formatted("from")
        + " and m.archived_at < "
        + TIME.formatted("to")
        + "${and} order by m.archived_at, m.seq limit :limit";
  }

  @Override
  protected String key() {
    return "${messageKey} = :key";
  }

  @Override
  protected String after() {
    return "(m.archived_at, m.seq) > (" + TIME.formatted("afterTime") + ", :afterSeq)";
  }

  @Override
  protected Object id(UUID id) {
    return id.toString();
  }

  @Override
  protected String archiveDeadLetter() {
    return "insert into ${q}${p}archive_message ("
        + kept("")
        + ", attempts, last_error, archived_at, outcome) select "
        + kept("m.")
        + """
        , m.attempts, m.last_error, utc_timestamp(6), :outcome
        from ${q}${p}message m force index (${p}message_seq)
        where m.seq = :seq and m.bucket = :bucket
        """;
  }

  @Override
  protected String noteDeadLetter() {
    return """
    insert into ${q}${p}archive_audit (action, who, db_user, reason, seq, message_id)
    select :action, :who, user(), :reason, m.seq, m.id
    from ${q}${p}message m force index (${p}message_seq)
    where m.seq = :seq and m.bucket = :bucket
    """;
  }

  @Override
  protected String note() {
    return "insert into ${q}${p}archive_audit (action, who, db_user, reason, seq, message_id)"
        + " values (:action, :who, user(), :reason, :seq, :id)";
  }

  @Override
  protected String audit() {
    return "select n.noted_at, n.action, n.who, n.reason, n.seq, n.message_id"
        + " from ${q}${p}archive_audit n where n.noted_at >= "
        + TIME.formatted("from")
        + " order by n.noted_at, n.id limit :limit";
  }

  @Override
  protected boolean keep(Handle handle, Duration retention) {
    return handle
            .createUpdate(
                """
                delete from ${q}${p}archive_message
                where archived_at < utc_timestamp(6) - interval :millis * 1000 microsecond
                order by archived_at, seq limit :most
                """)
            .bind("millis", retention.toMillis())
            .bind("most", PURGE)
            .execute()
        == PURGE;
  }
}
