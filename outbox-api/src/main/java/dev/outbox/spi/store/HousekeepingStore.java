package dev.outbox.spi.store;

/** A store that has something to tidy up now and then. */
public interface HousekeepingStore {

  /**
   * Purges what is no longer needed and repairs what can be; a relay calls it about each minute. A
   * relay that stops interrupts the thread and waits for it: what takes long should then end soon,
   * and what is left is done the next time.
   */
  void housekeep();
}
