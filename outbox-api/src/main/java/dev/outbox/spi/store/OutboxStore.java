package dev.outbox.spi.store;

import dev.outbox.Outbox;
import java.util.Set;

/**
 * One database behind the outbox: append, claim, renew, settle. Everything about time is the
 * database's clock (T1). Safe for use by many threads.
 *
 * <p>More abilities are small interfaces beside this one: {@link SchemaStore}, {@link
 * DeadLetterStore}, {@link StatisticsStore}, {@link LeaseStore}, {@link WarningStore}, {@link
 * HousekeepingStore}, {@link PooledStore}, {@link WakeUpStore}, {@link KeepingStore}, {@link
 * HandOverStore}, {@link ArchiveStore}, {@link AuditStore}.
 *
 * @param <T> the transaction's type
 */
public interface OutboxStore<T> extends Outbox<T>, ClaimSource {

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
