package dev.outbox.tck.store;

import dev.outbox.spi.store.OutboxStore;
import java.util.function.Function;

/** Unlocks the tests that what is asked does not cost more the more there is (C5, F1, F2). */
public interface CountsWork<T> {

  /**
   * Applies {@code work} to the store, or to another of the same tables, and counts what that took:
   * rows, index entries or documents read. Something that the database counts, not time. Pages only
   * where it does not count rows: so many rows are on a page that to read a whole backlog may look
   * cheap.
   */
  <R> Counted<R> counted(OutboxStore<T> store, Function<OutboxStore<T>, R> work);

  /** Called when a backlog was built: gather statistics, as the database does by itself. */
  default void backlogBuilt() {}

  /**
   * @param result what {@code work} returned
   * @param work at least 1 for a claim that brings something
   */
  record Counted<R>(R result, long work) {}
}
