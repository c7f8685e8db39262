package dev.outbox.store.mongo;

import static java.util.Objects.requireNonNull;

import com.mongodb.TransactionOptions;
import com.mongodb.client.ClientSession;
import java.util.Date;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One transaction of the store's own, and what is done in its session before it begins. */
final class MongoTransaction {
  private final ClientSession session;
  private final TransactionOptions options;
  private @Nullable Date now;
  private @Nullable Consumer<MongoTransaction> undo;

  MongoTransaction(ClientSession session, TransactionOptions options) {
    this.session = session;
    this.options = options;
  }

  /** For single reads and writes before the transaction, which sees what they did. */
  ClientSession beforehand() {
    if (session.hasActiveTransaction()) {
      throw new IllegalStateException("the transaction has begun");
    }
    return session;
  }

  /** For reads that need no transaction, and are part of one that has begun. */
  ClientSession asIs() {
    return session;
  }

  /** The session with the transaction begun: its snapshot is that of the first command. */
  ClientSession session() {
    if (!session.hasActiveTransaction()) {
      session.startTransaction(options);
    }
    return session;
  }

  /** What the server's clock said at this transaction's first read (T1). */
  Date now() {
    return requireNonNull(now, "no read has asked for the time");
  }

  void now(Date time) {
    now = time;
  }

  /**
   * What to do, in another transaction, when this one is given up: what was done beforehand is not
   * undone with it.
   */
  void whenGivenUp(Consumer<MongoTransaction> undo) {
    this.undo = undo;
  }

  void undo(MongoTransaction after) {
    if (undo != null) {
      undo.accept(after);
    }
  }
}
