package dev.outbox.consumer.kafka;

import dev.outbox.TransientOutboxException;
import dev.outbox.inbox.Inbox;
import dev.outbox.inbox.InboxKey;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransactionRollbackException;
import java.sql.SQLTransientConnectionException;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is done with one record: a transaction, the inbox, the handler.
 *
 * @param messageId the id by which a message is known when it arrives again
 * @param deadLetters null: no record is given up
 */
record Handling<T, K, V>(
    Inbox<T> inbox,
    Transactions<T> transactions,
    String consumer,
    Function<ConsumerRecord<K, V>, String> messageId,
    RecordHandler<T, K, V> handler,
    @Nullable DeadLetters<T, K, V> deadLetters) {
  private static final Logger log = LoggerFactory.getLogger(Handling.class);

  /** What is done with a message that comes for the first time. */
  private interface Work<T> {
    void in(T transaction) throws Exception;
  }

  /**
   * Why a record has had no effects. Errors count, too: they must not end the consumer.
   *
   * @param ofRecord whether the record is to blame; if not, it only has to be tried again
   */
  record Trouble(Throwable why, boolean ofRecord) {}

  /** Handles the record; null when it has had its effects, now or before. */
  @Nullable Trouble handle(ConsumerRecord<K, V> record) {
    InboxKey key;
    try {
      key = key(record);
    } catch (RuntimeException | Error e) {
      return new Trouble(e, !mayPass(e));
    }
    try {
      boolean unused = once(key, transaction -> handler.handle(transaction, record));
      return null;
    } catch (WorkException e) {
      return new Trouble(e.why, !mayPass(e.why));
    } catch (Throwable e) {
      return new Trouble(e, false);
    }
  }

  /** Whether the record is done: it is a dead letter now, or another instance has handled it. */
  boolean giveUp(ConsumerRecord<K, V> record, Throwable why) {
    DeadLetters<T, K, V> letters = deadLetters;
    if (letters == null) {
      return false;
    }
    try {
      boolean given =
          once(keyOrPlace(record), transaction -> letters.add(transaction, record, why));
      log.warn(
          "Consumer {} gives up the record at offset {} of partition {} of topic {}: {}",
          consumer,
          record.offset(),
          record.partition(),
          record.topic(),
          given ? "it is a dead letter" : "it was handled meanwhile, or before");
      return true;
    } catch (Throwable e) {
      log.warn("Consumer {} cannot store the dead letter", consumer, e);
      return false;
    }
  }

  /**
   * Whether the work was done now, and not before.
   *
   * @throws WorkException when it is the work that failed, and not the transaction around it
   */
  private boolean once(InboxKey key, Work<T> work) throws Throwable {
    Attempt<T> attempt =
        new Attempt<>(
            transaction -> {
              work.in(transaction);
              requireCommit(transaction);
            });
    try {
      transactions.run(
          transaction -> {
            attempt.first = inbox.firstTime(transaction, key);
            if (attempt.first) {
              attempt.work(transaction);
            }
          });
      return attempt.first;
    } catch (Throwable e) {
      Throwable thrown = attempt.thrown;
      if (thrown == null || !causes(e).contains(thrown)) {
        throw interrupted(e);
      }
      throw new WorkException(interrupted(thrown));
    }
  }

  /** Otherwise the record would be taken for handled, and be lost. */
  private void requireCommit(T transaction) {
    if (inbox.hasFailed(transaction)) {
      throw new IllegalStateException(
          "a statement of the transaction has failed, and its error was caught: nothing of the transaction can be committed; let the error through, or roll back to a savepoint before that statement");
    }
  }

  private static Throwable interrupted(Throwable e) {
    if (e instanceof InterruptedException) {
      Thread.currentThread().interrupt();
    }
    return e;
  }

  /** The last attempt, where a library repeats its transactions by itself. */
  private static final class Attempt<T> {
    private final Work<T> work;
    private boolean first;
    private @Nullable Throwable thrown;

    Attempt(Work<T> work) {
      this.work = work;
    }

    /** Keeps what the work throws, whatever the library that runs the transaction makes of it. */
    void work(T transaction) {
      try {
        work.in(transaction);
      } catch (RuntimeException e) {
        thrown = e;
        throw e; // as it is: whoever runs transactions again has to know it
      } catch (Throwable e) { // some libraries would not roll back after an Error
        thrown = e;
        throw new IllegalStateException(e);
      }
    }
  }

  private static final class WorkException extends Exception {
    private static final long serialVersionUID = 1L;

    private final Throwable why;

    WorkException(Throwable why) {
      super(why);
      this.why = why;
    }
  }

  /** Itself, its cause, and so on. */
  private static Set<Throwable> causes(Throwable e) {
    Set<Throwable> causes = new LinkedHashSet<>();
    for (Throwable cause = e; cause != null && causes.add(cause); ) {
      cause = cause.getCause();
    }
    return causes;
  }

  /**
   * Whether a connection or a transaction was lost, or this process is out of memory, which says
   * nothing about the record.
   */
  private static boolean mayPass(Throwable e) {
    return causes(e).stream()
        .anyMatch(
            cause ->
                cause instanceof TransientOutboxException
                    || cause instanceof SQLException sql && isLost(sql)
                    || cause instanceof VirtualMachineError
                        && !(cause instanceof StackOverflowError));
  }

  private static boolean isLost(SQLException e) {
    String state = String.valueOf(e.getSQLState());
    return e instanceof SQLTransientConnectionException
        || e instanceof SQLNonTransientConnectionException
        || e instanceof SQLRecoverableException
        || e instanceof SQLTransactionRollbackException
        || state.startsWith("08") // connection exception
        || state.startsWith("40") // transaction rollback: a deadlock
        || state.startsWith("57P"); // PostgreSQL is shut down, or comes up
  }

  private InboxKey key(ConsumerRecord<K, V> record) {
    return new InboxKey(consumer, messageId.apply(record));
  }

  static TopicPartition partitionOf(ConsumerRecord<?, ?> record) {
    return new TopicPartition(record.topic(), record.partition());
  }

  /** A record without an id is known by its place, at least to Kafka's own repetitions. */
  private InboxKey keyOrPlace(ConsumerRecord<K, V> record) {
    try {
      return key(record);
    } catch (RuntimeException | Error e) {
      return new InboxKey(consumer, partitionOf(record) + "@" + record.offset());
    }
  }
}
