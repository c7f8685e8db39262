package dev.outbox.jakarta;

import static java.util.Objects.requireNonNull;

import dev.outbox.Appended;
import dev.outbox.JoinedOutbox;
import dev.outbox.NoTransactionException;
import dev.outbox.Outbox;
import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;

/**
 * Appends in the current transaction of Jakarta EE, as of {@code @Transactional}: on a connection
 * that the DataSource enlists in it. For Quarkus, Helidon, WildFly, Open Liberty and whatever else
 * has a {@link TransactionSynchronizationRegistry}.
 *
 * <p>Safe for use by many threads, each with its own transaction. In CDI produce it as {@code
 * JoinedOutbox}.
 */
public final class JakartaOutbox implements JoinedOutbox {
  private final Outbox<Connection> outbox;
  private final DataSource dataSource;
  private final TransactionSynchronizationRegistry transactions;
  private final Runnable flush;
  private final Runnable wake;

  private JakartaOutbox(
      Outbox<Connection> outbox,
      DataSource dataSource,
      TransactionSynchronizationRegistry transactions,
      Runnable flush,
      Runnable wake) {
    this.outbox = requireNonNull(outbox, "outbox");
    this.dataSource = requireNonNull(dataSource, "dataSource");
    this.transactions = requireNonNull(transactions, "transactions");
    this.flush = requireNonNull(flush, "flush");
    this.wake = requireNonNull(wake, "wake");
  }

  /**
   * Flushes nothing and wakes nobody.
   *
   * @param outbox the store
   * @param dataSource one that the transaction manager enlists, of the database that has the
   *     outbox's tables
   * @param transactions injected, or looked up as {@code
   *     java:comp/TransactionSynchronizationRegistry}
   */
  public static JakartaOutbox of(
      Outbox<Connection> outbox,
      DataSource dataSource,
      TransactionSynchronizationRegistry transactions) {
    return new JakartaOutbox(outbox, dataSource, transactions, () -> {}, () -> {});
  }

  /**
   * The same, with this done before each append: {@code entityManager::flush}, where JPA changes
   * what the messages are about. JPA sends its updates late, at the commit: without the flush a
   * message gets its place in the order before the transaction has locked the aggregate's row (O5).
   * A flush looks at all entities of the transaction, so append several messages in one list.
   */
  public JakartaOutbox withFlush(Runnable flush) {
    return new JakartaOutbox(outbox, dataSource, transactions, flush, wake);
  }

  /**
   * The same, with this done once after a transaction with an append has committed: {@code
   * relay::wake}, where the relay is in this process. Then it does not wait for its next poll.
   */
  public JakartaOutbox withWake(Runnable wake) {
    return new JakartaOutbox(outbox, dataSource, transactions, flush, wake);
  }

  /**
   * Appends in the current transaction; otherwise as {@link Outbox#append(Object, List)}.
   *
   * @throws NoTransactionException when no transaction is active, it can only be rolled back, or
   *     the DataSource is not enlisted; nothing was written
   * @throws TransientOutboxException also when the DataSource gives no connection
   */
  @Override
  public Appended append(List<OutboxMessage> messages) {
    requireActive();
    flush.run();
    Appended appended = appendEnlisted(messages);
    if (transactions.getResource(this) == null) {
      transactions.registerInterposedSynchronization(new WakeUp());
      transactions.putResource(this, true);
    }
    return appended;
  }

  private void requireActive() {
    int status = transactions.getTransactionStatus();
    if (status == Status.STATUS_MARKED_ROLLBACK) {
      throw new NoTransactionException(
          "the transaction is marked for rollback: nothing can be appended in it any more");
    }
    if (status != Status.STATUS_ACTIVE) {
      throw new NoTransactionException(
          "no transaction is active, the status is %s of jakarta.transaction.Status: append in a method with @Transactional, or between begin and commit; what is called after a commit, as an observer with AFTER_SUCCESS, needs a transaction of its own, by @Transactional(REQUIRES_NEW)"
              .formatted(status));
    }
  }

  private Appended appendEnlisted(List<OutboxMessage> messages) {
    try (Connection connection = dataSource.getConnection()) {
      if (connection.getAutoCommit()) {
        connection.createStatement().close(); // some enlist with the first one, as Atomikos
      }
      if (connection.getAutoCommit()) {
        throw new NoTransactionException(
            "the DataSource's connection commits by itself, although a transaction is active: use a DataSource that the transaction manager enlists");
      }
      return outbox.append(connection, messages);
    } catch (SQLException e) {
      throw new TransientOutboxException(
          "the DataSource gave no connection, or did not take it back: " + e.getMessage(), e);
    }
  }

  private final class WakeUp implements Synchronization {
    @Override
    public void beforeCompletion() {}

    @Override
    public void afterCompletion(int status) {
      if (status == Status.STATUS_COMMITTED) {
        wake.run();
      }
    }
  }
}
