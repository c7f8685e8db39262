package dev.outbox.tck;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import java.util.Map;

/**
 * Unlocks the tests of clients that stop in the middle of an operation, as by {@code SIGSTOP} or
 * with their host (C4). To stop a client one may stop its process, or all traffic of its
 * connection.
 */
public interface StalledClients {

  /**
   * Starts a claim and stops the client where it does most harm: it has locked or written, and has
   * not committed. Returns with the client stopped; closing the result ends the client.
   */
  AutoCloseable stopInClaim(Claim.Request request);

  /** The same in a settle of a claim that {@code createStore()} of this test class returned. */
  AutoCloseable stopInSettle(Claim claim, Map<Long, Decision> decisions);
}
