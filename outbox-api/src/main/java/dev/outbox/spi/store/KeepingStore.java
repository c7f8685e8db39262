package dev.outbox.spi.store;

import dev.outbox.Appended;
import dev.outbox.OutboxMessage;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * A store in which a relay can keep keys from claim to claim, also while they have no messages. A
 * claim then need not lease them, and a settle need not give them back (C8). A store that {@link
 * #handsOver} gives messages that were appended in the relay's own process to the relay without
 * reading them (C9).
 *
 * @param <T> the transaction's type
 */
public interface KeepingStore<T> extends OutboxStore<T> {

  /**
   * Makes what keeps keys for the workers of one relay.
   *
   * @param unclaimed when no worker claims for this long, others may have what is kept
   */
  Keeper keeper(Duration unclaimed);

  /**
   * Claims for the workers of one relay. What they keep is held back from everybody else: as long
   * as they claim, until this is closed, or at the latest until the lease ends.
   */
  interface Keeper extends Claim.Source, AutoCloseable {

    /**
     * One that keeps nothing.
     *
     * @param source what it claims from, as the store
     */
    static Keeper ofNothing(Claim.Source source) {
      return new Keeper() {
        @Override
        public Claim claim(Claim.Request request) {
          return source.claim(request);
        }

        @Override
        public Claim.Settled settleAndClaim(
            Claim done, Map<Long, Decision> decisions, Claim.Request next) {
          return source.settleAndClaim(done, decisions, next);
        }

        @Override
        public void giveBackUnused() {}

        @Override
        public void close() {}
      };
    }

    /**
     * Holds keys for this relay, until the calling thread is interrupted. It shows others that the
     * relay lives, takes what nobody holds, also that of relays that are gone before their leases
     * end (C4), and shares it with the others. Returns where the store cannot do that, or not any
     * more; then it has given back what it held. One thread of the relay's calls it, from before
     * the workers claim until they have settled. Claims may find nothing until the first call has
     * shown the relay, or could not.
     *
     * @param announced called by this thread when there may be something to claim: another relay
     *     has {@link #announce announced} it, or had its key before. Returns at once
     * @throws InterruptedException when the thread was interrupted
     * @throws dev.outbox.OutboxException when it could not go on, as without its connection; call
     *     it again
     */
    default void hold(Runnable announced) throws InterruptedException {}

    /**
     * Tells those who hold keys in other processes that messages were committed, so that they do
     * not wait for the next poll. A hint, which may be lost. From any thread, after the commit;
     * returns at once, throws nothing.
     *
     * @return true: the next claim finds all of them that this relay may have; false: another's
     *     claim may hide some for a moment
     */
    default boolean announce() {
      return false;
    }

    /**
     * Whether other relays that live hold keys, and this one none: {@link OutboxStore#housekeep} is
     * mostly for them then. From any thread, without blocking.
     */
    default boolean standsBy() {
      return false;
    }

    /**
     * Gives what is held to other relays, if any live, while the workers go on. To be called before
     * a relay stops.
     *
     * @param most returns after this time at the latest
     * @throws InterruptedException when the calling thread was interrupted
     */
    default void leave(Duration most) throws InterruptedException {}

    /**
     * Gives back what is kept, when no worker has claimed for too long. To be called while the
     * workers do not claim, because their publisher hangs or their broker is down.
     *
     * @throws dev.outbox.OutboxException when it could not be given back: it is free when the lease
     *     ends
     */
    void giveBackUnused();

    /**
     * Gives back what is kept; claims that are not settled stay with their workers.
     *
     * @throws dev.outbox.OutboxException when it could not be given back: it is free when the lease
     *     ends
     */
    @Override
    void close();
  }

  /** Whether {@link #append} ever hands something over. */
  default boolean handsOver() {
    return false;
  }

  /**
   * Appends as {@link dev.outbox.Outbox#append} does, with its errors.
   *
   * @param keeper one of this store's
   */
  default Uncommitted append(Keeper keeper, T transaction, List<OutboxMessage> messages) {
    return Uncommitted.of(append(transaction, messages));
  }

  /**
   * Whether a commit now would be one. After a statement that failed PostgreSQL's rolls back, and
   * its driver says nothing of it. Only where this was true right before the commit, whoever
   * commits knows that it has succeeded. In the transaction's thread; asks nothing of the server,
   * throws nothing.
   */
  default boolean canCommit(T transaction) {
    return true;
  }

  /** What was appended in a transaction that is still open. */
  interface Uncommitted {
    /** Who publishes what was committed. */
    enum Committed {
      /** The keeper has the messages. Other relays that hold some of their keys were told. */
      HANDED_OVER,

      /** The keeper's next claims find the messages. Other relays were told as above. */
      HERE,

      /** Other relays hold the keys, and were told. */
      ELSEWHERE,

      /** Nobody was told: whoever claims next finds the messages. */
      UNKNOWN
    }

    Appended appended();

    /**
     * Says that the transaction has committed: hands over what the keeper may have, and tells
     * others of the rest. Never to be called where that is not known for sure, as {@link
     * #canCommit} says it. From any thread, without blocking; throws nothing.
     */
    Committed committed();

    /** What is handed over to nobody. */
    static Uncommitted of(Appended appended) {
      return of(appended, () -> Committed.UNKNOWN);
    }

    /**
     * @param committed what {@link #committed} does
     */
    static Uncommitted of(Appended appended, Supplier<Committed> committed) {
      return new Uncommitted() {
        @Override
        public Appended appended() {
          return appended;
        }

        @Override
        public Committed committed() {
          return committed.get();
        }
      };
    }
  }
}
