package dev.outbox.store.sqlserver;

import dev.outbox.Archive;
import dev.outbox.store.jdbc.internal.ArchiveTexts;

/**
 * The archive. A message is copied and then deleted, by the same list of rows and in one
 * transaction that has locked its bucket. The copy locks the rows, so what is deleted is what was
 * copied. {@code delete … output into} would be one statement, and fails where somebody has put a
 * trigger on the archive.
 */
final class SqlServerArchive extends ArchiveTexts {

  /** {@code :most, :millis}; deletes what was archived before that, which is negative. */
  static final String PURGE =
      "delete top (:most) from ${q}${p}archive_message ${past} where archived_at < "
          + SqlServerText.later(":millis");

  SqlServerArchive(Archive archive) {
    super(archive);
  }

  /** Takes {@code :messages} with bucket, seq, id, attempts and answer, {@code :was, :place}. */
  String copy() {
    return insert("attempts, answer")
        + """
        l.attempts, nullif(l.answer, N''), sysutcdatetime(), N'DELIVERED'
        from openjson(:messages)
          with (bucket int '$[0]', seq bigint '$[1]', id uniqueidentifier '$[2]', attempts int '$[3]',
            answer nvarchar(4000) '$[4]') l
        inner join ${q}${p}message m with (updlock, forceseek) on m.bucket = l.bucket and m.seq = l.seq
        where m.status = :was and m.place = :place and m.id = l.id
        option (loop join, force order)
        """;
  }

  @Override
  protected String time(String parameter) {
    return "convert(datetime2(6), :%s, 126)".formatted(parameter);
  }

  @Override
  protected String dead() {
    return "from ${q}${p}message m with (updlock, forceseek) where m.bucket = :bucket"
        + " and m.status = N'DEAD' and m.place = 0x00 and m.seq = :seq";
  }

  @Override
  protected String text(String id) {
    return "convert(nvarchar(36), %s)".formatted(id);
  }

  @Override
  protected String empty() {
    return "convert(varbinary(max), N'')";
  }

  @Override
  protected String reading() {
    return " ${now}";
  }

  @Override
  protected String first(String columns, String rest) {
    return "select top (:limit) " + columns + rest;
  }

  /** With something behind them, because T-SQL says that 'a' = 'a '. */
  @Override
  protected String is(String text, String parameter) {
    return "%s + N'.' = :%s + N'.'".formatted(text, parameter);
  }

  @Override
  protected String after() {
    return "(m.archived_at > %1$s or m.archived_at = %1$s and m.seq > :afterSeq)"
        .formatted(time("afterTime"));
  }
}
