package dev.outbox.spi.store;

import java.time.Duration;

/**
 * A store that can keep keys from claim to claim, also while there is nothing to claim: then a
 * message that comes is found without a lease, and settled without giving one back (C8).
 */
public interface KeepingStore {

  /**
   * Keeps keys for the workers of one relay.
   *
   * @param idle how long keys are kept that have no messages; more than nothing
   */
  Keeper keeper(Duration idle);

  /**
   * Claims for the workers of one relay. What they keep is held back from everybody else: until it
   * was idle for long enough, until this is closed, or at the latest until the lease ends.
   */
  interface Keeper extends ClaimSource, AutoCloseable {

    /**
     * Gives back what no claim has looked at for as long as keys are kept. To be called while the
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
}
