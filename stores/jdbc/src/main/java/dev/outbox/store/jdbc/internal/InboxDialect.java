package dev.outbox.store.jdbc.internal;

import dev.outbox.store.core.internal.Names;
import dev.outbox.store.core.internal.SchemaVersion;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * What differs from database to database in the inbox: the texts of its statements. {@link
 * InboxTable} runs them. Parameters are bound in the order in which they are named here; a duration
 * is in milliseconds from the statement's own time on, and null where there is none.
 */
public interface InboxDialect extends Server {

  @Override
  default String migrate() {
    return SchemaVersion.MIGRATE_INBOX;
  }

  @Override
  default String grants() {
    return Names.resource(getClass(), "inbox-grants.sql");
  }

  /** Refuses a caller's connection whose statements would not be its own. */
  default void check(Connection connection) throws SQLException {}

  /** Prepares one of the statements below. */
  default PreparedStatement prepare(Connection connection, String sql) throws SQLException {
    return connection.prepareStatement(sql);
  }

  /** Binds a text so that it arrives as it is. */
  default void setText(PreparedStatement statement, int i, @Nullable String text)
      throws SQLException {
    statement.setString(i, text);
  }

  /**
   * Takes consumer, message id, state, token, duration of the lock, fingerprint, and the duration
   * after which the row expires. Inserts the row, with one attempt, and changes one row; where the
   * key is there already, it changes any other number. Waits for another transaction that inserts
   * or deletes the key.
   */
  String insert();

  /**
   * Takes consumer and message id; gives state, token, fingerprint, attempts, left_micros (of the
   * lock), content_type and result of what was committed last, whatever the transaction's snapshot.
   */
  String find();

  /**
   * Takes state, token, duration of the lock, how many attempts more, fingerprint (the first that
   * came stays), content type, result, error (null: the last stays), the duration after which the
   * row expires; then consumer, message id, token and state that the row must have.
   */
  String update();

  /** A condition to be added to {@link #update}: the lock is over. */
  String lockIsOver();

  /**
   * Takes how many at most; gives consumer and message id of what expired first, and locks it.
   * Skips what somebody else has locked.
   */
  String expired();

  /** Takes consumer and message id. */
  default String delete() {
    return "delete from ${q}${p}message where consumer = ? and message_id = ?";
  }

  /**
   * Takes the cap three times; gives in_progress, expired_locks and failed, each at most the cap.
   * By an index, and no more of its entries than that (F1).
   */
  String statistics();
}
