package dev.outbox.store.jdbc.internal;

/**
 * What differs from database to database in the inbox: the texts of its statements. {@link
 * InboxTable} runs them. Parameters are bound in the order in which they are named here; a duration
 * is in milliseconds from the statement's own time on, and null where there is none.
 *
 * @param insert takes consumer, message id, state, token, duration of the lock, fingerprint, and
 *     the duration after which the row expires. Inserts the row, with one attempt, and changes one
 *     row; where the key is there already, it changes any other number. Waits for another
 *     transaction that inserts or deletes the key
 * @param find takes consumer and message id; gives state, token, fingerprint, attempts, left_micros
 *     (of the lock), content_type and result of what was committed last, whatever the transaction's
 *     snapshot
 * @param update takes state, token, duration of the lock, how many attempts more, fingerprint (the
 *     first that came stays), content type, result, error (null: the last stays), and the duration
 *     after which the row expires. After these it takes consumer, message id, token and state that
 *     the row must have
 * @param lockIsOver a condition to be added to the update
 * @param expired takes how many at most; gives consumer and message id of what expired first, and
 *     locks it. Skips what somebody else has locked
 * @param delete takes consumer and message id
 * @param statistics takes the cap three times; gives in_progress, expired_locks and failed, each at
 *     most the cap. By an index, and no more of its entries than that (F1)
 */
public record InboxTexts(
    String insert,
    String find,
    String update,
    String lockIsOver,
    String expired,
    String delete,
    String statistics) {

  /** The delete of most databases. */
  public static final String DELETE =
      "delete from ${q}${p}message where consumer = ? and message_id = ?";
}
