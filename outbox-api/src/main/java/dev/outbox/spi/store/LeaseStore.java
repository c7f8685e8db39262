package dev.outbox.spi.store;

import java.time.Instant;
import java.util.List;

/** A store that can say who holds its leases: for people, who ask which relays are alive. */
public interface LeaseStore {

  /**
   * Whoever holds a lease now, by name. A relay that has nothing to do holds none, and so is not
   * there; one that was killed is there until its leases have run out.
   */
  List<WorkerLease> leases();

  /**
   * What one worker holds.
   *
   * @param worker its name, as in {@link ClaimRequest#worker}
   * @param buckets how many parts of the outbox
   * @param since when it took or renewed the first of them, by the store's clock
   * @param until when the last of them runs out, by the store's clock
   */
  record WorkerLease(String worker, int buckets, Instant since, Instant until) {}
}
