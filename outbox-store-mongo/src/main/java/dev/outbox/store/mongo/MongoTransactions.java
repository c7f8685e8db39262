package dev.outbox.store.mongo;

import com.mongodb.MongoConnectionPoolClearedException;
import com.mongodb.MongoException;
import com.mongodb.MongoExecutionTimeoutException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import dev.outbox.store.core.internal.Transactions;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs the store's own transactions: each reads one snapshot, and what it has read and written is
 * on a majority of the members once it has committed (A1). Nothing in it waits for another
 * transaction: a write to a document that another one has written, or has changed since the
 * snapshot, is a write conflict, and the transaction is run again.
 */
final class MongoTransactions implements Transactions<MongoTransaction> {

  /** How often a transaction that lost a conflict is run before the caller is told. */
  private static final int TRIES = 5;

  /**
   * The least that a commit may wait for a majority, however short the lease: given up earlier, it
   * would leave open whether it has committed.
   */
  private static final long COMMIT_MILLIS = 10_000;

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final MongoClient client;
  private final Errors errors;
  private final @Nullable ClientSession ofClaim;

  /** What gives back that which the claim has leased. */
  private @Nullable Consumer<MongoTransaction> undo;

  MongoTransactions(MongoClient client, Errors errors) {
    this(client, errors, null);
  }

  private MongoTransactions(MongoClient client, Errors errors, @Nullable ClientSession ofClaim) {
    this.client = client;
    this.errors = errors;
    this.ofClaim = ofClaim;
  }

  /** On a session of the claim's own, which its leases name. */
  @Override
  public Transactions<MongoTransaction> forClaim() {
    return new MongoTransactions(client, errors, errors.own(client::startSession));
  }

  /**
   * The next transaction of a session ends the one before, where that is still open. A session that
   * is closed is used again by others; while buckets name it, that must not be.
   */
  @Override
  public void abandon() {
    Consumer<MongoTransaction> giveBack = undo;
    if (giveBack != null) {
      try {
        execute(Duration.ofMillis(COMMIT_MILLIS), giveBack);
      } catch (RuntimeException e) { // also when the client was closed
        return; // the leases run out
      }
    }
    close();
  }

  @Override
  public void close() {
    if (ofClaim != null) {
      ofClaim.close();
    }
  }

  @Override
  public <R extends @Nullable Object> R run(Duration patience, Work<MongoTransaction, R> work) {
    if (ofClaim != null) {
      return run(ofClaim, patience, work);
    }
    try (ClientSession session = errors.own(client::startSession)) {
      return run(session, patience, work);
    }
  }

  private <R extends @Nullable Object> R run(
      ClientSession session, Duration patience, Work<MongoTransaction, R> work) {
    TransactionOptions options =
        TransactionOptions.builder()
            .readPreference(ReadPreference.primary())
            .readConcern(ReadConcern.SNAPSHOT)
            .writeConcern(WriteConcern.MAJORITY)
            .maxCommitTime(Math.max(patience.toMillis(), COMMIT_MILLIS), TimeUnit.MILLISECONDS)
            .build();
    for (int attempt = 1; ; attempt++) {
      try {
        return once(
            session, new MongoTransaction(session, options, attempt, later -> undo = later), work);
      } catch (MongoException e) {
        if (!isToRunAgain(e) || attempt == TRIES) {
          throw errors.translate(e);
        }
        pause(attempt);
      }
    }
  }

  /** Where no server answers, trying again would only double the wait. */
  private static boolean isToRunAgain(MongoException e) {
    return e instanceof MongoConnectionPoolClearedException
        || (e.hasErrorLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL)
            && !(e instanceof MongoTimeoutException));
  }

  /** So that those that met do not meet again, also where each takes long. */
  private static void pause(int attempt) {
    LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(PAUSE_NANOS << attempt));
  }

  private static <R extends @Nullable Object> R once(
      ClientSession session, MongoTransaction transaction, Work<MongoTransaction, R> work) {
    try {
      R result = work.in(transaction);
      if (session.hasActiveTransaction()) {
        commit(session);
      }
      return result;
    } finally {
      if (session.hasActiveTransaction()) {
        session.abortTransaction();
      }
    }
  }

  /** The server remembers: a commit that is repeated after a lost reply commits once. */
  private static void commit(ClientSession session) {
    for (int attempt = 1; ; attempt++) {
      try {
        session.commitTransaction();
        return;
      } catch (MongoException e) {
        boolean unknown =
            e.hasErrorLabel(MongoException.UNKNOWN_TRANSACTION_COMMIT_RESULT_LABEL)
                && !(e instanceof MongoTimeoutException)
                && !(e instanceof MongoExecutionTimeoutException);
        if (!unknown || attempt == TRIES) {
          throw e;
        }
      }
    }
  }
}
