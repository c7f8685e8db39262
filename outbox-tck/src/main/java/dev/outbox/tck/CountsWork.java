package dev.outbox.tck;

import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.OutboxStore;

/** Unlocks the tests that a claim does not cost more the more there is (C5). */
public interface CountsWork<T> {

  /**
   * Claims and counts the work that took: rows, index entries or documents read. Something that the
   * database counts, not time. Pages only where it does not count rows: so many rows are on a page
   * that to read a whole backlog may look cheap.
   */
  Counted countedClaim(OutboxStore<T> store, ClaimRequest request);

  /** Called when a backlog was built: gather statistics, as the database does by itself. */
  default void backlogBuilt() {}

  /**
   * @param work at least 1 for a claim that brings something
   */
  record Counted(Claim claim, long work) {}
}
