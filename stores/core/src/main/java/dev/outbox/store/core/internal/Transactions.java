package dev.outbox.store.core.internal;

import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The store's own transactions.
 *
 * @param <H> what the statements of a transaction are run through, as a connection
 */
public interface Transactions<H> extends AutoCloseable {

  interface Work<H, R extends @Nullable Object> {
    R in(H handle);
  }

  /**
   * Runs work in a transaction of the store's own, again when it lost a conflict; it must bear
   * that.
   *
   * @param patience after this long without a sign of the client the database ends the transaction
   *     by itself, so that a stalled client holds no bucket (C4)
   * @throws dev.outbox.OutboxException when the work failed or could not be committed
   */
  <R extends @Nullable Object> R run(Duration patience, Work<H, R> work);

  /** As {@link #run}, for work without a result. */
  default void execute(Duration patience, Consumer<H> work) {
    boolean ignored =
        run(
            patience,
            handle -> {
              work.accept(handle);
              return true;
            });
  }

  /**
   * Runs one statement of {@link Database.Leases} or {@link Database.Reads}, which is all of its
   * transaction. Where the database can do so, it takes one round trip and may not have waited for
   * the disk. Elsewhere it is {@link #run}.
   */
  default <R extends @Nullable Object> R runSingle(Duration patience, Work<H, R> work) {
    return run(patience, work);
  }

  /**
   * Transactions of one claim, in which the first statement is one of {@link Database.Leases}.
   * Where the database ties a claim's transactions to one session, they are closed when the claim
   * is over. A claim that is left to its lease is never over.
   */
  default Transactions<H> forClaim() {
    return this;
  }

  /**
   * Transactions on a session of their own, which lasts until they are closed.
   *
   * @return null where there are no sessions, or none to spare
   * @throws dev.outbox.OutboxException when it cannot be had now
   */
  default @Nullable Transactions<H> ofOneSession() {
    return null;
  }

  /**
   * How long one of these has waited for a connection by now, the longest of all that wait: zero
   * where none does, or where nobody knows. Safe for use by many threads.
   */
  default Duration waiting() {
    return Duration.ZERO;
  }

  /**
   * Closes those of a claim that has failed; what was leased for it outside a transaction is given
   * back, as far as it can be. Does not throw.
   */
  default void abandon() {
    close();
  }

  /** Called on what {@link #forClaim} gave. Must not throw: what was done is committed by then. */
  @Override
  default void close() {}
}
