package dev.outbox.tck.internal;

import com.mongodb.MongoException;
import com.mongodb.ReadPreference;
import com.mongodb.TransactionOptions;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import java.util.function.Consumer;

/** Transactions of fixtures on MongoDB. */
public final class Mongo {
  private Mongo() {}

  /** Commits when {@code work} returns, rolls back and rethrows when it throws. */
  public static void inTransaction(MongoClient client, Consumer<ClientSession> work) {
    try (ClientSession session = client.startSession()) {
      // The driver reads in transactions on the primary only, and an append with dedup keys reads.
      session.startTransaction(
          TransactionOptions.builder().readPreference(ReadPreference.primary()).build());
      work.accept(session);
      session.commitTransaction();
    }
  }

  /** Runs {@code work} with a session without a transaction. */
  public static void withoutTransaction(MongoClient client, Consumer<ClientSession> work) {
    try (ClientSession session = client.startSession()) {
      work.accept(session);
    }
  }

  /** Whether the server wants the whole transaction to run again. */
  public static boolean isToRunAgain(Throwable failure) {
    return failure instanceof MongoException e
        && e.hasErrorLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL);
  }
}
