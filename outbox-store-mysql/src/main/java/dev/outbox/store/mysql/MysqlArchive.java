package dev.outbox.store.mysql;

import dev.outbox.Archive;
import dev.outbox.store.jdbc.internal.ArchiveTexts;
import java.util.UUID;

/**
 * The archive. A message is copied and then deleted, by the same list of rows and in one
 * transaction that has locked its bucket. The copy locks the rows, so what is deleted is what was
 * copied, whatever somebody does by hand. Old rows are deleted from the front of the table: a
 * statement that drops a partition would commit by itself, wait for every open transaction on the
 * table, and let all others wait behind it.
 */
final class MysqlArchive extends ArchiveTexts {

  MysqlArchive(Archive archive) {
    super(archive);
  }

  /**
   * Takes {@code :rows} with bucket, seq, id, attempts and answer, as {@link MysqlText} has them.
   */
  String copy() {
    return insert("attempts, answer")
        + """
        l.attempts, convert(unhex(nullif(l.answer, '')) using utf8mb4), utc_timestamp(6), 'DELIVERED'
        from ${archivedRows} ${lockMessages}
        """;
  }

  @Override
  protected String time(String parameter) {
    return "cast(:%s as datetime(6))".formatted(parameter);
  }

  @Override
  protected String dead() {
    return "from ${q}${p}message m force index (${p}message_seq)"
        + " where m.seq = :seq and m.bucket = :bucket";
  }

  @Override
  protected String user() {
    return "user()";
  }

  @Override
  protected String empty() {
    return "_binary''";
  }

  @Override
  protected Object id(UUID id) {
    return id.toString();
  }
}
