package dev.outbox.spi;

import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import java.util.Map;
import java.util.Set;

/**
 * One database behind the outbox: append, claim, renew, settle. Everything about time is the
 * database's clock (T1). Safe for use by many threads.
 *
 * <p>More abilities are small interfaces beside this one: {@link SchemaStore}, {@link
 * DeadLetterStore}, {@link StatisticsStore}, {@link LeaseStore}, {@link WarningStore}, {@link
 * HousekeepingStore}, {@link PooledStore}, {@link WakeUpStore}.
 *
 * @param <T> the transaction's type
 */
public interface OutboxStore<T> extends Outbox<T> {

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

  /**
   * What {@link #settleAndClaim} did.
   *
   * @param lost as {@link Claim#settle} returns
   * @param next may be empty
   */
  record Settled(Set<Long> lost, Claim next) {
    public Settled {
      lost = Set.copyOf(lost);
    }
  }
}
