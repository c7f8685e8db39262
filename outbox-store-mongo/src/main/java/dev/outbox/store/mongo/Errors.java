package dev.outbox.store.mongo;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoClientException;
import com.mongodb.MongoConnectionPoolClearedException;
import com.mongodb.MongoException;
import com.mongodb.MongoExecutionTimeoutException;
import com.mongodb.MongoInterruptedException;
import com.mongodb.MongoSecurityException;
import com.mongodb.MongoServerUnavailableException;
import com.mongodb.MongoSocketException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.client.ClientSession;
import dev.outbox.NoTransactionException;
import dev.outbox.OutboxException;
import dev.outbox.PermanentOutboxException;
import dev.outbox.SchemaException;
import dev.outbox.TransientOutboxException;
import dev.outbox.store.core.internal.PrefixedNames;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Says in one sentence what went wrong, and whether trying again can help. */
record Errors(CollectionKind contents, PrefixedNames names) {
  private static final int UNAUTHORIZED = 13;
  private static final int AUTHENTICATION_FAILED = 18;
  private static final int ILLEGAL_OPERATION = 20;
  private static final int NAMESPACE_NOT_FOUND = 26;
  private static final int VALIDATION_FAILED = 121;
  private static final int OUT_OF_DISK_SPACE = 14031;

  /** Not labelled outside transactions: time limits, interruptions, elections, write conflicts. */
  private static final Set<Integer> PASSING =
      Set.of(
          6, 7, 24, 43, 50, 63, 64, 89, 91, 112, 133, 134, 189, 202, 217, 225, 234, 237, 239, 246,
          251, 262, 290, 319, 355, 365, 402, 407, 433, 449, 9001, 10107, 11600, 11601, 11602, 13388,
          13435, 13436);

  /** What is done in the caller's transaction. */
  <R> R joining(ClientSession session, Supplier<R> work) {
    if (!session.hasActiveTransaction()) {
      throw new NoTransactionException(
          "the session has no active transaction to join: call startTransaction() or withTransaction(…), or use your framework's transaction");
    }
    try {
      return work.get();
    } catch (MongoException e) {
      throw failed(e);
    } catch (IllegalStateException e) {
      throw new PermanentOutboxException(
          "the session cannot be used with this store's MongoClient: " + e.getMessage(), e);
    }
  }

  /**
   * What may pass stays an error of the driver, with its label: only that makes {@code
   * withTransaction} run the whole transaction again. The sentence says why.
   */
  private RuntimeException failed(MongoException e) {
    boolean again =
        e.hasErrorLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL)
            || e instanceof MongoConnectionPoolClearedException;
    if (!again) {
      return translate(e);
    }
    MongoException transientError =
        new MongoException(
            e.getCode(),
            "the transaction has failed for a reason that may pass, as another open transaction with the same key, an election, or an error of an earlier command that has ended it: roll back and run the whole transaction again (withTransaction does that by itself): "
                + e.getMessage(),
            e);
    e.getErrorLabels().forEach(transientError::addLabel);
    transientError.addLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL);
    return transientError;
  }

  /** What is done in no transaction of the caller's. */
  <R> R own(Supplier<R> work) {
    try {
      return work.get();
    } catch (MongoException e) {
      throw translate(e);
    }
  }

  void run(Runnable work) {
    try {
      work.run();
    } catch (MongoException e) {
      throw translate(e);
    }
  }

  OutboxException translate(MongoException e) {
    int code = code(e);
    String detail = text(e) + " (code " + code + ")";
    return switch (code) {
      case UNAUTHORIZED ->
          new PermanentOutboxException(
              "MongoDB refused a command for lack of rights, give this user the role that outbox grants%s prints: %s"
                  .formatted(contents == CollectionKind.INBOX ? " --inbox" : "", detail),
              e);
      case AUTHENTICATION_FAILED -> refused(detail, e);
      case ILLEGAL_OPERATION ->
          new PermanentOutboxException(
              "MongoDB refused a command; the %s needs transactions, which a replica set or a sharded cluster has and a single server has not (start it with --replSet and run rs.initiate() once): %s"
                  .formatted(contents.word, detail),
              e);
      case NAMESPACE_NOT_FOUND ->
          new SchemaException(
              "a collection is missing, migrate the database (collection %s): %s"
                  .formatted(names.table("message"), detail),
              e);
      case VALIDATION_FAILED ->
          new PermanentOutboxException(
              "a document breaks a limit of collection %s: %s"
                  .formatted(names.table("message"), detail),
              e);
      case OUT_OF_DISK_SPACE ->
          new TransientOutboxException(
              "MongoDB has no disk space left for this, free some: " + detail, e);
      default -> other(e, code, detail);
    };
  }

  private static OutboxException other(MongoException e, int code, String detail) {
    if (e instanceof MongoInterruptedException) {
      return new TransientOutboxException("interrupted while MongoDB answered", e);
    }
    // With a time limit of the client, the driver says of both that the operation took too long.
    boolean endedByServer = e.getCause() instanceof MongoExecutionTimeoutException;
    if (!endedByServer && (isOfTheNetwork(e) || isOfTheNetwork(e.getCause()))) {
      return new TransientOutboxException(
          "no connection to MongoDB: is it running, is the URL right, is there a primary, is the pool large enough? "
              + detail,
          e);
    }
    if (endedByServer || mayPass(e, code)) {
      return new TransientOutboxException(
          "MongoDB ended the operation, as for another transaction, an election or a time limit; run it again: "
              + detail,
          e);
    }
    if (e instanceof MongoSecurityException) {
      return refused(detail, e);
    }
    return e instanceof MongoClientException
        ? new PermanentOutboxException("MongoDB's driver refused an operation: " + detail, e)
        : new PermanentOutboxException("MongoDB refused a command: " + detail, e);
  }

  private static boolean isOfTheNetwork(@Nullable Throwable e) {
    return e instanceof MongoTimeoutException
        || e instanceof MongoSocketException
        || e instanceof MongoConnectionPoolClearedException
        || e instanceof MongoServerUnavailableException;
  }

  /** A bulk write has no code of its own, and names the values of documents. */
  private static int code(MongoException e) {
    if (e instanceof MongoBulkWriteException bulk) {
      if (!bulk.getWriteErrors().isEmpty()) {
        return bulk.getWriteErrors().get(0).getCode();
      }
      if (bulk.getWriteConcernError() != null) {
        return bulk.getWriteConcernError().getCode();
      }
    }
    return e.getCode();
  }

  private static String text(MongoException e) {
    return e instanceof MongoBulkWriteException bulk && !bulk.getWriteErrors().isEmpty()
        ? bulk.getWriteErrors().get(0).getMessage()
        : String.valueOf(e.getMessage());
  }

  private static boolean mayPass(MongoException e, int code) {
    return PASSING.contains(code)
        || e.hasErrorLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL)
        || e.hasErrorLabel(MongoException.UNKNOWN_TRANSACTION_COMMIT_RESULT_LABEL)
        || e.hasErrorLabel("RetryableWriteError");
  }

  private static OutboxException refused(String detail, MongoException e) {
    return new PermanentOutboxException(
        "MongoDB refused the connection, check user, password and authSource: " + detail, e);
  }
}
