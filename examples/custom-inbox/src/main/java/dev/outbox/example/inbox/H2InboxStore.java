package dev.outbox.example.inbox;

import static dev.outbox.spi.store.InboxStore.checkedLock;
import static org.jdbi.v3.core.transaction.TransactionIsolationLevel.READ_COMMITTED;

import dev.outbox.NoTransactionException;
import dev.outbox.OutboxException;
import dev.outbox.PermanentOutboxException;
import dev.outbox.Texts;
import dev.outbox.TransientOutboxException;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.Inbox.InProgressException;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.spi.store.InboxStore;
import java.sql.Connection;
import java.sql.SQLIntegrityConstraintViolationException;
import java.sql.SQLTransientException;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.result.RowView;
import org.jdbi.v3.core.statement.Update;
import org.jdbi.v3.core.transaction.LocalTransactionHandler;
import org.jspecify.annotations.Nullable;

/**
 * An inbox on H2, inside the application's process. Written to be read, not to be fast.
 *
 * <p>One row a key: done, started by the holder of a token until {@code lock_until}, or failed.
 *
 * <ol>
 *   <li>{@code firstTime} and {@code begin} insert the row, if there is none. While another open
 *       transaction has inserted it, the database waits for the end of that (I2); when that has
 *       committed, the insert fails, which does not end the transaction on H2, and all begins anew.
 *   <li>A row that is there says what is to be done: done is done (I6), a live lock is somebody
 *       else's (I3, I5), another fingerprint is another message (I7).
 *   <li>What is free is taken over by an update of the row that still has the token that was read:
 *       of two that try, one changes nothing, and begins anew (I4).
 *   <li>A lock changes the row that is started and has its token. If there is none, the row says
 *       whether this lock did the same before, and only the answer was lost.
 *   <li>A row expires after its retention, which begins when it is done, released, or when its lock
 *       ends: so what is locked is never purged (I8).
 * </ol>
 */
public final class H2InboxStore implements InboxStore<Connection> {
  static final String DDL =
      """
      create table inbox_message (
        consumer varchar(510) not null, message_id varchar(510) not null,
        state varchar(7) not null, token uuid, lock_until timestamp(6) with time zone,
        attempts int not null, fingerprint varbinary(64) not null, content_type varchar(510),
        result varbinary(1000000), last_error varchar(4000),
        expires_at timestamp(6) with time zone not null, primary key (consumer, message_id));
      create index inbox_message_expired on inbox_message (expires_at)
      """;

  private static final String KEY = " where consumer = :consumer and message_id = :messageId";

  private static final String INSERT =
      """
      insert into inbox_message values (:consumer, :messageId, :state, :token, :lockUntil, 1,
        :fingerprint, null, null, null, :expiresAt)
      """;

  private static final String TAKE_OVER =
      """
      update inbox_message set state = :state, token = :token, attempts = attempts + 1,
        lock_until = :lockUntil, expires_at = :expiresAt,
        fingerprint = coalesce(nullif(fingerprint, X''), :fingerprint)
      """
          + KEY
          + " and token = :was and lock_until = :until";

  private static final String CHANGE =
      """
      update inbox_message set state = :state, lock_until = :until, expires_at = :expiresAt,
        result = :result, content_type = :type, last_error = coalesce(:error, last_error)
      """
          + KEY
          + " and state = 'STARTED' and token = :token";

  private static final String PURGE =
      """
      delete from inbox_message where (consumer, message_id) in (
        select consumer, message_id from inbox_message where expires_at <= current_timestamp
        order by expires_at limit 100 for update skip locked)
      """;

  private final Jdbi jdbi;
  private final Duration retention;

  /** Does not connect yet. */
  public H2InboxStore(DataSource dataSource, Duration retention) {
    jdbi = Jdbi.create(dataSource);
    jdbi.setTransactionHandler(LocalTransactionHandler.managed());
    this.retention = InboxStore.checkedRetention(retention);
  }

  /** Creates the table; fails when it is there. */
  public void migrate() {
    jdbi.useTransaction(handle -> handle.createScript(DDL).execute());
  }

  private record Row(
      String state,
      @Nullable UUID token,
      @Nullable Instant lockUntil,
      int attempts,
      Fingerprint fingerprint,
      InboxResult result) {

    static Row of(RowView row) {
      byte[] result = row.getColumn("result", byte[].class);
      return new Row(
          row.getColumn("state", String.class),
          row.getColumn("token", UUID.class),
          row.getColumn("lock_until", Instant.class),
          row.getColumn("attempts", Integer.class),
          Fingerprint.ofHash(row.getColumn("fingerprint", byte[].class)),
          result == null
              ? InboxResult.none()
              : InboxResult.of(result, row.getColumn("content_type", String.class)));
    }
  }

  @Override
  public boolean firstTime(Connection transaction, InboxKey key) {
    Begin<Connection> begin =
        inCallers(transaction, h -> take(h, key, null, Duration.ZERO, Fingerprint.none()));
    if (begin instanceof Begin.InProgress<Connection> other) {
      throw new InProgressException(key, other.left());
    }
    return begin instanceof Begin.Started;
  }

  @Override
  public Begin<Connection> begin(InboxKey key, Duration lock, Fingerprint fingerprint) {
    return own(h -> take(h, key, UUID.randomUUID(), checkedLock(lock), fingerprint));
  }

  /**
   * Takes a key that nobody has.
   *
   * @param token of the lock; null: it is done at once
   */
  private Begin<Connection> take(
      Handle handle, InboxKey key, @Nullable UUID token, Duration lock, Fingerprint fingerprint) {
    for (int i = 0; i < 20; i++) { // so often somebody else may be quicker
      Instant now = now(handle);
      Row row = find(handle, key);
      if (row != null && fingerprint.differsFrom(row.fingerprint())) {
        return new Begin.Mismatch<>();
      } else if (row != null && row.state().equals("DONE")) {
        return new Begin.Done<>(row.result());
      } else if (row != null && row.state().equals("STARTED") && now.isBefore(row.lockUntil())) {
        return new Begin.InProgress<>(Duration.between(now, row.lockUntil()));
      }
      Update take =
          handle
              .createUpdate(row == null ? INSERT : TAKE_OVER)
              .bindMethods(key)
              .bind("state", token == null ? "DONE" : "STARTED")
              .bind("token", token)
              .bind("lockUntil", token == null ? null : now.plus(lock))
              .bind("fingerprint", fingerprint.bytes())
              .bind("expiresAt", now.plus(lock).plus(retention))
              .bind("was", row == null ? null : row.token())
              .bind("until", row == null ? null : row.lockUntil());
      if (changes(take)) {
        int attempts = row == null ? 1 : row.attempts() + 1;
        return new Begin.Started<>(new KeyLock(this, key, token, attempts));
      }
    }
    throw new TransientOutboxException(key + " changes hands all the time: run this again");
  }

  /** False also where somebody else has inserted the row. */
  private static boolean changes(Update update) {
    try {
      return update.execute() == 1;
    } catch (JdbiException e) {
      if (e.getCause() instanceof SQLIntegrityConstraintViolationException) {
        return false;
      }
      throw e;
    }
  }

  private static @Nullable Row find(Handle handle, InboxKey key) {
    return handle
        .createQuery("select * from inbox_message" + KEY)
        .bindMethods(key)
        .map(Row::of)
        .findOne()
        .orElse(null);
  }

  private record KeyLock(H2InboxStore store, InboxKey key, UUID token, int attempts)
      implements Lock<Connection> {

    @Override
    public boolean renew(Duration lock) {
      return store.own(h -> change(h, "STARTED", checkedLock(lock), InboxResult.none(), null));
    }

    @Override
    public boolean complete(InboxResult result) {
      return store.own(h -> end(h, "DONE", result, null));
    }

    @Override
    public boolean complete(Connection transaction, InboxResult result) {
      return store.inCallers(transaction, h -> end(h, "DONE", result, null));
    }

    @Override
    public boolean release(String error) {
      return store.own(h -> end(h, "FAILED", InboxResult.none(), Texts.clean(error)));
    }

    private boolean end(Handle handle, String state, InboxResult result, @Nullable String error) {
      boolean changed = change(handle, state, Duration.ZERO, result, error);
      Row row = find(handle, key);
      return changed || row != null && row.state().equals(state) && token.equals(row.token());
    }

    private boolean change(
        Handle handle, String state, Duration lock, InboxResult result, @Nullable String error) {
      Instant until = now(handle).plus(lock);
      Update change =
          handle
              .createUpdate(CHANGE)
              .bindMethods(key)
              .bind("state", state)
              .bind("until", until)
              .bind("result", result.content())
              .bind("type", result.contentType())
              .bind("error", error)
              .bind("expiresAt", until.plus(store.retention))
              .bind("token", token);
      return changes(change);
    }
  }

  /** Some at a time, and what is locked another time. */
  @Override
  public void housekeep() {
    while (own(handle -> handle.execute(PURGE)) > 0) {}
  }

  private <R> R own(Function<Handle, R> work) {
    try {
      return jdbi.inTransaction(READ_COMMITTED, work::apply);
    } catch (JdbiException e) {
      throw problem(e);
    }
  }

  /** Neither closes the connection nor ends its transaction. */
  private <R> R inCallers(Connection transaction, Function<Handle, R> work) {
    try (Handle handle = Jdbi.create(transaction).open()) {
      if (!handle.isInTransaction()) {
        throw new NoTransactionException("in auto-commit: call setAutoCommit(false) first");
      }
      return work.apply(handle);
    } catch (JdbiException e) {
      throw problem(e);
    }
  }

  /** The database's clock, which decides everything about time. */
  private static Instant now(Handle handle) {
    return handle.createQuery("values current_timestamp(6)").mapTo(Instant.class).one();
  }

  /** What the database said, without what JDBI adds to it: statements, and the values in them. */
  private static OutboxException problem(JdbiException e) {
    Throwable cause = e.getCause() == null ? e : e.getCause();
    return cause instanceof SQLTransientException
        ? new TransientOutboxException("roll back and run the transaction again: " + cause, cause)
        : new PermanentOutboxException("the database refused it: " + cause, cause);
  }
}
