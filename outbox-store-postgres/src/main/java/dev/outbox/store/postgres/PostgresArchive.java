package dev.outbox.store.postgres;

import dev.outbox.Archive;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.jdbc.internal.ArchiveTexts;
import dev.outbox.store.postgres.Hot.Parameters;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import org.jdbi.v3.core.Handle;

/**
 * The archive: a table with a partition for each day. A message moves there in the statement that
 * deletes it, so exactly what was deleted is inserted, by the same snapshot and the same commit.
 */
final class PostgresArchive extends ArchiveTexts {

  /** As all reads of a time that is given as text. */
  private static final String TIME = "cast(:%s as timestamp) at time zone 'UTC'";

  PostgresArchive(Archive archive) {
    super(archive);
  }

  /**
   * Parts of a WITH: {@code deleted}, which deletes and says what, and {@code archived}, which
   * inserts that. {@link #bind} binds what the second takes.
   *
   * @param delete the statement, without RETURNING; it calls the messages {@code m}
   */
  String moving(String delete) {
    return "deleted as ("
        + delete
        + " returning "
        + kept("m.")
        + ", m.attempts), archived as (insert into ${q}${p}archive_message ("
        + kept("")
        + ", attempts, answer, archived_at, outcome) select "
        + kept("d.")
        // Attempts as they were claimed: one that is counted at the claim (S6) has not failed.
        + """
        , coalesce(a.attempts, d.attempts), a.answer, statement_timestamp(), 'DELIVERED'
        from deleted d left join unnest(?, ?, ?) a (seq, attempts, answer) on a.seq = d.seq)
        """;
  }

  /** Binds what {@link #moving} takes. */
  static Parameters bind(Parameters parameters, Collection<Claimable> delivered)
      throws SQLException {
    return parameters
        .longs(delivered, Claimable::sequence)
        .integers(delivered, row -> row.message().attempts())
        .texts(delivered, Claimable::answer);
  }

  @Override
  protected String archived() {
    return "select "
        + columns("''")
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
  protected String archiveDeadLetter() {
    return "insert into ${q}${p}archive_message ("
        + kept("")
        + ", attempts, last_error, archived_at, outcome) select "
        + kept("m.")
        + ", m.attempts, m.last_error, statement_timestamp(), :outcome from ${q}${p}message m"
        + " where m.bucket = :bucket and m.seq = :seq";
  }

  @Override
  protected String noteDeadLetter() {
    return """
    insert into ${q}${p}archive_audit (action, who, reason, seq, message_id)
    select :action, :who, :reason, m.seq, m.id::text from ${q}${p}message m
    where m.bucket = :bucket and m.seq = :seq
    """;
  }

  @Override
  protected String note() {
    return "insert into ${q}${p}archive_audit (action, who, reason, seq, message_id)"
        + " values (:action, :who, :reason, :seq, :id)";
  }

  @Override
  protected String audit() {
    return "select n.noted_at, n.action, n.who, n.reason, n.seq, n.message_id"
        + " from ${q}${p}archive_audit n where n.noted_at >= "
        + TIME.formatted("from")
        + " order by n.noted_at, n.id limit :limit";
  }

  /** A day is dropped as a whole, so what is in it may be a day older than it has to be. */
  @Override
  protected boolean keep(Handle handle, Duration retention) {
    long days = retention.toDays() + (retention.minusDays(retention.toDays()).isZero() ? 0 : 1);
    boolean ignored =
        handle
            .createQuery("select ${q}${p}archive_keep(:days)")
            .bind("days", (int) Math.min(days, 36_500))
            .mapTo(Boolean.class)
            .one();
    return false;
  }
}
