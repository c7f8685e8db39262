package dev.outbox.store.jdbc;

/**
 * The statements that take the same named parameters and give the same columns in every database;
 * {@link StatementDialect} runs them. What else a dialect has is its own.
 *
 * <p>A dialect that does something in another way overrides the method that runs the statement, and
 * may then give it another form.
 *
 * <p>Times are the database's own, in UTC; durations are in milliseconds.
 */
public enum Sql {
  /** Gives version, or no row. */
  SCHEMA_VERSION,

  /** {@code :bucket, :owner, :token, :leaseMillis}; changes a row while the lease is held. */
  RENEW,

  /**
   * Gives {@link Rows#COLUMNS}, target (the status to move to, or null) and horizon; or only the
   * last for a bucket without messages. Of a message to be moved, and of one whose payload has more
   * than {@code :bytes}, the payload comes as null. In sequence order for each bucket.
   */
  READ_PENDING,

  /** Gives bucket, and size: the bytes of the payload or 0, of what {@link #READ_PENDING} reads. */
  SIZES_PENDING,

  /** As {@link #READ_PENDING}, in the order of the times. */
  READ_SCHEDULED,

  /** As {@link #SIZES_PENDING}. */
  SIZES_SCHEDULED,

  /** {@link StatementDialect#forRows}: those that are PENDING or SCHEDULED become BLOCKED. */
  MOVE_TO_BLOCKED,

  /** {@link StatementDialect#forRows}: those that are PENDING become SCHEDULED. */
  MOVE_TO_SCHEDULED,

  /**
   * {@link StatementDialect#forRows} and {@code :by}: adds to the attempts of what is not dead, not
   * below 0 nor beyond what an int holds.
   */
  COUNT,

  /** {@link StatementDialect#forRows}. */
  DELETE,

  /**
   * {@code :bucket, :seq, :id, :attempts, :availableAt, :attemptsAfter, :status, :error}; changes
   * the row that has this sequence, this id, these attempts and this time (ISO 8601 in UTC without
   * a zone, or null), and is not dead.
   */
  FAIL,

  /**
   * {@code :bucket, :key, :delayMillis, :halted, :seq, :lowSeq}; a row that is there keeps the
   * lower low_seq, and what halts it unless there is something new.
   */
  BLOCK,

  /** {@code :bucket, :key, :seq}. */
  LOWER,

  /** {@code :after, :limit}; gives {@link Rows#COLUMNS}, last_error, last_failed_at. */
  DEAD_LETTERS,

  /** {@code :seq}; locks the dead letter and gives bucket and key, or no row. */
  LOCK_DEAD_LETTER,

  /** {@code :bucket, :key, :seq, :lowSeq}; changes the key's row if that dead letter halts it. */
  UNHALT,

  /** {@code :bucket, :seq, :unhalted}; BLOCKED if the key was unhalted, or else SCHEDULED. */
  REQUEUE,

  /** {@code :bucket, :seq}. */
  DISCARD,

  /**
   * Gives pending, scheduled, blocked, dead, blocked_keys, halted_keys, oldest_millis (null when
   * nothing is due).
   */
  STATISTICS,

  /** Gives relay, buckets, leased_at, lease_until of the leases that have not run out, by relay. */
  LEASES,

  /** Gives bucket, key and halted_by of the keys that are halted by what is no dead letter. */
  HALTED_BY_NOTHING,

  /** Changes nothing where all rows are there. */
  RESTORE_BUCKETS,

  /**
   * {@code :bucket}; a row for each key that has BLOCKED messages and none, and a lower low_seq
   * where the row's is above them.
   */
  RESTORE_BLOCKED_KEYS
}
