package dev.outbox.spi.store;

import dev.outbox.OutboxException;
import dev.outbox.spi.store.OutboxStore.Settled;
import java.util.Map;

/** Where workers get their claims: a store, or what it keeps for a relay. For many threads. */
public interface ClaimSource {

  /**
   * Leases some keys and returns their oldest due messages. Never waits for another relay or for an
   * open producer transaction (C3).
   *
   * @return a claim, empty when nothing is due that nobody else holds
   * @throws dev.outbox.TransientOutboxException when trying again can help; nothing is lost
   * @throws dev.outbox.SchemaException when the tables are missing or of another version
   * @throws OutboxException for any other failure
   */
  Claim claim(ClaimRequest request);

  /**
   * Settles a claim and takes the next one; a store may keep the lease from one to the other.
   *
   * @throws OutboxException as {@link Claim#settle} and {@link #claim}
   */
  default Settled settleAndClaim(Claim done, Map<Long, Decision> decisions, ClaimRequest next) {
    return new Settled(done.settle(decisions), claim(next));
  }
}
