package dev.outbox.store.sqlserver;

import dev.outbox.Archive;
import dev.outbox.store.jdbc.internal.ArchiveTexts;
import java.time.Duration;
import org.jdbi.v3.core.Handle;

/**
 * The archive. A message is copied and then deleted, by the same list of rows and in one
 * transaction that has locked its bucket; the copy locks the rows, so that what is deleted is what
 * was copied. {@code delete … output into} would be one statement, and fails where somebody has put
 * a trigger on the archive.
 */
final class SqlServerArchive extends ArchiveTexts {

  /** So many are deleted in one transaction. */
  private static final int MOST_PURGED = 1_000;

  static final String PURGE =
      "delete top (:most) from ${q}${p}archive_message ${past} where archived_at < "
          + SqlServerText.later(":millis");

  private static final String TIME = "convert(datetime2(6), :%s, 126)";

  SqlServerArchive(Archive archive) {
    super(archive);
  }

  /** Takes {@code :messages} with bucket, seq, id, attempts and answer, {@code :was, :place}. */
  String copy() {
    return "insert into ${q}${p}archive_message ("
        + kept("")
        + ", attempts, answer, archived_at, outcome) select "
        + kept("m.")
        + """
        , l.attempts, nullif(l.answer, N''), sysutcdatetime(), N'DELIVERED'
        from openjson(:messages)
          with (bucket int '$[0]', seq bigint '$[1]', id uniqueidentifier '$[2]', attempts int '$[3]',
            answer nvarchar(4000) '$[4]') l
        inner join ${q}${p}message m with (updlock, forceseek) on m.bucket = l.bucket and m.seq = l.seq
        where m.status = :was and m.place = :place and m.id = l.id
        option (loop join, force order)
        """;
  }

  @Override
  protected String archived() {
    return "select top (:limit) "
        + columns("convert(varbinary(max), N'')")
        + " from ${q}${p}archive_message m ${now} where m.archived_at >= "
        + TIME.formatted("from")
        + " and m.archived_at < "
        + TIME.formatted("to")
        + "${and} order by m.archived_at, m.seq";
  }

  /** Of the bytes, because T-SQL says that 'a' = 'a '. */
  @Override
  protected String key() {
    return "convert(varbinary(2042), ${messageKey})"
        + " = convert(varbinary(2042), convert(nvarchar(1021), :key))";
  }

  @Override
  protected String after() {
    return "(m.archived_at > %1$s or m.archived_at = %1$s and m.seq > :afterSeq)"
        .formatted(TIME.formatted("afterTime"));
  }

  @Override
  protected String archiveDeadLetter() {
    return "insert into ${q}${p}archive_message ("
        + kept("")
        + ", attempts, last_error, archived_at, outcome) select "
        + kept("m.")
        + ", m.attempts, m.last_error, sysutcdatetime(), :outcome"
        + " from ${q}${p}message m with (updlock, forceseek) where m.bucket = :bucket and m.status = N'DEAD'"
        + " and m.place = 0x00 and m.seq = :seq";
  }

  @Override
  protected String noteDeadLetter() {
    return """
    insert into ${q}${p}archive_audit (action, who, reason, seq, message_id)
    select :action, :who, :reason, m.seq, convert(nvarchar(36), m.id)
    from ${q}${p}message m with (updlock, forceseek)
    where m.bucket = :bucket and m.status = N'DEAD' and m.place = 0x00 and m.seq = :seq
    """;
  }

  @Override
  protected String note() {
    return "insert into ${q}${p}archive_audit (action, who, reason, seq, message_id)"
        + " values (:action, :who, :reason, :seq, :id)";
  }

  @Override
  protected String audit() {
    return "select top (:limit) n.noted_at, n.action, n.who, n.reason, n.seq, n.message_id"
        + " from ${q}${p}archive_audit n ${now} where n.noted_at >= "
        + TIME.formatted("from")
        + " order by n.noted_at, n.id";
  }

  @Override
  protected boolean keep(Handle handle, Duration retention) {
    return handle
            .createUpdate(PURGE)
            .bind("millis", -SqlServerDialect.clamped(retention).toMillis())
            .bind("most", MOST_PURGED)
            .execute()
        == MOST_PURGED;
  }
}
