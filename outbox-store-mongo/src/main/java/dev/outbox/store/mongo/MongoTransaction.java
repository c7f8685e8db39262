package dev.outbox.store.mongo;

import static java.util.Objects.requireNonNull;

import com.mongodb.TransactionOptions;
import com.mongodb.client.ClientSession;
import java.util.Date;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One transaction of the store's own, and what is done in its session before it begins. */
final class MongoTransaction {
  private final ClientSession session;
  private final TransactionOptions options;
  private final int attempt;
  private final Set<Long> handedOut = new HashSet<>();
  private final Consumer<Consumer<MongoTransaction>> undo;
  private @Nullable Date now;

  MongoTransaction(
      ClientSession session,
      TransactionOptions options,
      int attempt,
      Consumer<Consumer<MongoTransaction>> undo) {
    this.session = session;
    this.options = options;
    this.attempt = attempt;
    this.undo = undo;
  }

  /** Whether it is run for the third time at least, because others were in its way. */
  boolean isContended() {
    return attempt > 2;
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

  /**
   * Whether this is the first message with its sequence that the transaction hands out. A foreign
   * producer may give one twice, and decisions are by sequence: the other comes with a later claim.
   */
  boolean isFirst(long sequence) {
    return handedOut.add(sequence);
  }

  /** What the server's clock said at this transaction's first read (T1). */
  Date now() {
    return requireNonNull(now, "no read has asked for the time");
  }

  void now(Date time) {
    now = time;
  }

  /**
   * What to do, in another transaction, when the claim fails: what was done beforehand is not
   * undone with this one.
   */
  void whenClaimFails(Consumer<MongoTransaction> giveBack) {
    undo.accept(giveBack);
  }
}
