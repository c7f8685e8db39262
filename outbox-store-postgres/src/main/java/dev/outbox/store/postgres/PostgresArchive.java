package dev.outbox.store.postgres;

import dev.outbox.Archive;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.jdbc.internal.ArchiveTexts;
import dev.outbox.store.postgres.BatchStatements.Parameters;
import java.sql.SQLException;
import java.util.Collection;

/**
 * The archive: a table with a partition for each day. A message moves there in the statement that
 * deletes it, so exactly what was deleted is inserted, by the same snapshot and the same commit.
 */
final class PostgresArchive extends ArchiveTexts {

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
        from deleted d left join unnest(?::bigint[], ?::int[], ?::text[]) a (seq, attempts, answer) on a.seq = d.seq)
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

  /** As all reads of a time that is given as text. */
  @Override
  protected String time(String parameter) {
    return "cast(:%s as timestamp) at time zone 'UTC'".formatted(parameter);
  }

  @Override
  protected String dead() {
    return "from ${q}${p}message m where m.bucket = :bucket and m.seq = :seq";
  }

  @Override
  protected String text(String id) {
    return id + "::text";
  }

  @Override
  protected String empty() {
    return "''";
  }
}
